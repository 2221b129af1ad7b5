"""Rows of timeline entries."""

from typing import Any

import pytest

from tests.harness.cli.inbound import timeline
from tests.unit.base.timeline.stories import OPENED, Step, started, story, words


def test_legs_are_lettered_in_the_order_of_their_calls() -> None:
    """Each leg has a lifeline, headed by a letter and known by its party; servers come last."""
    lifelines = [(lifeline.heading, lifeline.label) for lifeline in timeline().lifelines]
    assert [head for head, _ in lifelines] == ["engine", "A", "B", "server"]
    assert [who for _, who in lifelines[:3]] == ["", "+15550001", "+4733333333"]


def test_an_unanswered_leg_shows_its_cause_and_sip_status() -> None:
    """Busy is shown with cause and SIP status."""
    ended: Step = ({"type": "leg-ended", "leg": "l0", "cause": 17, "sip_code": 486}, [], "ended")
    assert words(story(OPENED, ended))[-1] == "not answered: user busy (17, SIP 486)"


def test_who_may_not_be_called_is_shown_with_the_reason() -> None:
    """In words, and by the name that events and records have for it."""
    ended: Step = (
        {"type": "leg-ended", "leg": "l0", "cause": 21, "reason": "do_not_call"}, [], "ended",
    )  # fmt: skip
    assert words(story(OPENED, ended))[-1] == (
        "not dialed: it is on the do-not-call list (do_not_call)"
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "the engine is connected again"),
        ({"uncontrolled_ms": 400}, "the engine is connected again, 0.4 s without control"),
        ({"engine": "pbx2-7"}, "engine pbx2-7 took over"),
        (
            {"engine": "pbx2-7", "uncontrolled_ms": 1_900},
            "engine pbx2-7 took over, 1.9 s without control",
        ),
        (
            {"engine": "pbx2-7", "uncertain": ["p0"]},
            "engine pbx2-7 took over; a prompt was perhaps not heard",
        ),
    ],
)
def test_a_recovery_is_shown_across_all_lifelines(fields: dict[str, Any], text: str) -> None:
    """A recovery is a break across all lifelines."""
    row = story(OPENED, ({"type": "recovered", "bridged": [], **fields}, [], "playing")).rows[-1]
    assert (row.kind, row.text) == ("break", text)


def test_a_gather_without_prompt_is_shown() -> None:
    """A gather without a prompt has no command; the state change shows it once."""
    again: Step = (
        {"type": "digit-pressed", "leg": "l0", "digit": "1", "pressed_ms": 1},
        [],
        "gathering",
    )
    answered: Step = ({"type": "leg-answered", "leg": "l0"}, [], "gathering")
    assert words(story(OPENED, answered, again)) == [
        "calls +1555",
        "answered",
        "gather: waiting for digits",
        "presses 1",
    ]


@pytest.mark.parametrize(
    ("reason", "text"), [("timeout", "timeout"), ("digit-timeout", "digit timeout")]
)
def test_the_timeout_of_a_gather_has_the_name_of_its_reason(reason: str, text: str) -> None:
    """The first digit's timeout differs from the one between digits."""
    answered: Step = ({"type": "leg-answered", "leg": "l0"}, [], "gathering")
    gathered = {"type": "emit-event", "event": {"event": "gathered", "reason": reason}}
    over: Step = ({"type": "deadline-passed"}, [gathered], "ending")
    assert words(story(OPENED, answered, over))[-1] == text


def test_a_pause_is_shown() -> None:
    """A pause has no command; the verb that started shows it, with its length."""
    verb = {"type": "pause", "data": {"length": 2.5}}
    assert words(started(verb, "pausing")) == ["answered", "pause of 2.5 s"]


def test_a_verb_is_shown_once() -> None:
    """The text of its media would be that of the verb."""
    verb = {"type": "say", "data": {"text": "hi"}}
    fetch = {"type": "fetch-media", "sources": [{"type": "speech", "text": "hi"}]}
    assert words(started(verb, "playing", fetch)) == ["answered", "say “hi”"]


@pytest.mark.parametrize(
    ("commands", "text"),
    [([{"type": "stop-voicemail", "name": "v"}], "recording limit"), ([], "recording over")],
)
def test_a_voicemail_that_ended_by_itself_has_reached_no_limit(
    commands: list[dict[str, str]], text: str
) -> None:
    """The limit stops it; after silence the PBX has ended it, and it is archived."""
    answered: Step = ({"type": "leg-answered", "leg": "l0"}, [], "recording")
    passed: Step = ({"type": "deadline-passed"}, commands, "recording")
    assert text in words(story(OPENED, answered, passed))


def test_the_end_of_a_pause_is_shown() -> None:
    paused: Step = ({"type": "leg-answered", "leg": "l0"}, [], "pausing")
    over: Step = ({"type": "deadline-passed"}, [], "ending")
    assert words(story(OPENED, paused, over))[-1] == "pause over"


def test_a_loop_is_shown() -> None:
    """An answer's verb is shown with its number of rounds."""
    for url, text in (("https://a", "play https://a, 3 times"), (["https://a"] * 2, "2 sounds")):
        action = {"type": "play", "data": {"audioUrl": url, "loop": 3 if "3" in text else 1}}
        received = {"type": "action-received", "request": "r", "action": action}
        assert words(story(OPENED, (received, [], "playing")))[-1].endswith(text)


def test_a_key_of_an_outage_is_shown_as_such() -> None:
    """The digit was recovered after an outage."""
    pressed = {"type": "digit-pressed", "leg": "l0", "digit": "1", "missed": True}
    assert words(story(OPENED, (pressed, [], "")))[-1] == "presses 1, while no engine was connected"


def test_a_webhooks_tries_are_shown() -> None:
    """Every try is shown with its time and status when the first was not enough."""
    tries = [[12, 503], [8, 200]]
    replied = {"type": "action-received", "request": "r1", "action": None, "tries": tries}
    assert words(story(OPENED, (replied, [], "ending")))[-1] == (
        "response (503 in 12 ms, then 200 in 8 ms): no action"
    )


def test_a_failed_webhook_shows_why() -> None:
    """A webhook without a usable response is shown with its reason."""
    failed = {"type": "action-failed", "request": "r1", "reason": "http_404", "tries": [[3, 404]]}
    assert words(story(OPENED, (failed, [], "ending")))[-1] == "no usable response: http_404"


def test_a_flow_is_no_webhook() -> None:
    """A stored flow is read by the engine itself: no lifeline for the web."""
    load = {"type": "load-flow", "request": "r1", "flow_id": "welcome"}
    replied = {"type": "action-received", "request": "r1", "action": {"type": "hangup"}}
    result = story(OPENED, ({"type": "leg-answered", "leg": "l0"}, [load], "awaiting-instructions"),
                 (replied, [], "ending"))  # fmt: skip
    assert words(result)[-2:] == ["flow welcome", "flow action: hangup"]
    assert [lifeline.heading for lifeline in result.lifelines] == ["engine", "A"]


def test_a_flow_is_shown_node_by_node() -> None:
    """Nodes appear by name and in words; an API has a lifeline, with its responses."""
    nodes = {
        "hi": {"type": "say", "data": {"text": "Hello"}},
        "ask": {"type": "request", "data": {"requestId": "a1"}},
        "keep": {"type": "set", "variables": {"tier": "gold", "n": 3}},
        "test": {"type": "condition", "cases": [{}], "else": "hi"},
        "menu": {"type": "menu", "branches": {"1": "a", "2": "b"}, "data": {"text": "Press"}},
        "back": {"type": "goto", "node": "menu"},
    }
    loaded: list[Step] = [
        (
            {"type": "flow-node-loaded", "request": "r", "name": name, "node": node},
            [],
            "awaiting-instructions",
        )
        for name, node in nodes.items()
    ]
    send = {"type": "send-api-request", "request": "r2", "api": "a1"}
    entered = {"type": "flow-started", "request": "r1", "flow_id": "f", "version": 3, "start": "hi"}
    answered = {
        "type": "api-request-succeeded",
        "request": "r2",
        "values": {"tier": "gold"},
        "tries": [[7, 200]],
    }
    failed = {
        "type": "api-request-failed",
        "request": "r2",
        "reason": "status_404",
        "tries": [[3, 404]],
    }
    load = {"type": "load-flow-node", "request": "r3"}
    lost = {"type": "action-failed", "request": "r3", "reason": "no version 3"}
    waits = "awaiting-instructions"
    result = story(
        OPENED, (entered, [load], waits), *loaded, (lost, [send], waits), (answered, [send], waits),
        (failed, [], "ending"),
    )  # fmt: skip
    assert words(result)[1:] == [
        "flow f, version 3",
        "node hi: say “Hello”",
        "node ask: API request",
        "node keep: set tier = gold, n = 3",
        "node test: condition, 1 cases",
        "node menu: menu “Press”; keys 1, 2",
        "node back: goto menu",
        "flow action: no usable response: no version 3",
        "sends API request a1",
        "response in 7 ms: tier = gold",
        "sends API request a1",
        "no usable response (404 in 3 ms): status_404",
    ]
    assert [lifeline.heading for lifeline in result.lifelines] == ["engine", "A", "server"]


def test_what_could_not_be_heard_is_shown() -> None:
    """Audio that can't be had and playbacks that fail are rows of their own."""
    fetched: Step = (
        {"type": "media-fetched", "request": "p", "clips": [], "faults": ["404"]},
        [],
        "",
    )
    failed: Step = ({"type": "playback-ended", "playback": "p", "failed": True}, [], "")
    assert words(story(OPENED, fetched, failed))[1:] == [
        "audio is not available: 404",
        "playback failed",
    ]


def test_audio_of_which_nothing_is_heard_is_shown() -> None:
    """It is played, as silence may be meant."""
    url, event = "https://shop.example/a.wav", {"type": "media-fetched", "request": "p"}
    silent: Step = ({**event, "clips": [], "silent": [url]}, [], "")
    both: Step = ({**event, "clips": [], "faults": ["404"], "silent": [url]}, [], "")
    assert words(story(OPENED, silent, both))[1:] == [
        f"silent audio: {url}",
        "audio is not available: 404",
        f"silent audio: {url}",
    ]


def test_who_answered_is_shown() -> None:
    """Start of detection, sounds, and the result."""
    listens: Step = (
        {"type": "leg-answered", "leg": "l0"},
        [{"type": "start-talk-detection", "leg": "l0", "silence_ms": 200}],
        "detecting",
    )
    talked: Step = ({"type": "talk-ended", "leg": "l0", "duration_ms": 400}, [], "detecting")
    known: Step = (
        {"type": "deadline-passed"},
        [{"type": "stop-talk-detection", "leg": "l0", "answered_by": "human"}],
        "playing",
    )
    assert words(story(OPENED, listens, talked, known))[2:] == [
        "answering machine detection",
        "sound for 0.4 s",
        "answering machine detection decided",
        "answered by: human",
    ]


def test_unknown_moments_are_passed_over() -> None:
    """Events of a newer engine are skipped."""
    assert words(story(OPENED, ({"type": "new-event"}, [{"type": "new-command"}], "new"))) == [
        "calls +1555"
    ]
