"""A stream to a bot, in virtual time: its marks, and what it hears during an action."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from streams.bots.limits import (
    MAX_ACTIONS,
    MAX_FRAMES_PER_S,
    MAX_INVALID,
    MAX_MARKS,
    MAX_PENDING_MARKS,
    VOICE_FRAMES_PER_S,
    Accounts,
)
from streams.bots.protocols.messages import MAX_MARK_CHARS
from streams.pbx import PbxEvent
from streams.stream.reporter import MAX_DETAIL_CHARS, MarkNames
from streams.stream.stream import GAP_MS, MAX_EARLY, MAX_IDS, Inbox
from tests.unit.streams.bot_lab import SILENCE, SOUND, Lab
from wire.streams.setup import ActionMessage, DigitMessage, Protocol, TextMessage


def test_a_long_name_of_a_mark_is_short_in_reports() -> None:
    """Its bot gets all of it back."""
    lab, name = Lab(), "a" * 201
    lab.say(event="mark", name=name)
    lab.stream.mark_returned("m1")
    assert [each["name"] for each in lab.of("mark")] == [name[:-1]]
    assert json.loads(lab.bot.texts[-1])["name"] == name
    lab.stream.end("stopped")
    assert lab.of("ended")[0]["lastMark"] == name[:-1]


@pytest.mark.parametrize("protocol", ["native", "twilio", "vonage", "jambonz"])
def test_a_mark_that_will_not_come_back_is_rejected(protocol: Protocol) -> None:
    """A bot that waits for it learns why: its name is too long, or there are too many marks."""
    name = "m" * (MAX_MARK_CHARS + 1)
    marks: dict[Protocol, dict[str, Any]] = {
        "native": {"event": "mark", "name": name},
        "twilio": {"event": "mark", "mark": {"name": name}},
        "vonage": {"action": "notify", "payload": {"name": name}},
        "jambonz": {"type": "mark", "data": {"name": name}},
    }
    lab = Lab(protocol=protocol)
    lab.say(**marks[protocol])
    answer = json.loads(lab.bot.texts[-1])
    assert answer["event"] == "switchroom"
    assert answer["invalid"] == "a mark's name has more than 1000 characters"
    assert lab.commands == []
    assert not lab.stream.is_ended


def test_a_clear_is_answered() -> None:
    """As Vonage does, also if there is nothing to drop; other protocols return marks only."""
    lab = Lab(protocol="vonage")
    lab.stream.read_binary(SOUND * 50)
    lab.say(action="notify", payload="a")
    sent = len(lab.bot.texts)
    for _ in range(2):
        lab.say(action="clear")
    assert [json.loads(each) for each in lab.bot.texts[sent:]] == [
        {"event": "websocket:cleared"}
    ] * 2


def test_what_has_no_effect_is_rejected() -> None:
    """Each message up to the limit: too many marks, and what is not understood."""
    lab = Lab()
    lab.mark(MAX_MARKS + 1)
    lab.stream.read_text(b"{")
    lab.say(event="mark")
    reasons = [json.loads(each).get("invalid") for each in lab.bot.texts]
    assert [each for each in reasons if each] == [
        "too many marks in a second, or not heard yet",
        "Input data was truncated",
        "`mark` without what belongs to it",
    ]


def test_a_name_of_a_mark_has_no_control_characters_in_reports() -> None:
    """They are shown in terminals; the bot gets its own name back."""
    lab = Lab()
    name = "\x1b[2Jhello\u202e"
    lab.say(event="mark", name=name)
    lab.stream.mark_returned("m1")
    assert [each["name"] for each in lab.of("mark")] == ["[2Jhello"]
    assert json.loads(lab.bot.texts[-1])["name"] == name


def test_too_many_marks_end_a_stream_at_last() -> None:
    """The first ones of them are ignored."""
    lab = Lab()
    lab.mark(MAX_MARKS + MAX_INVALID)
    assert not lab.stream.is_ended
    lab.mark(1)
    assert lab.of("ended")[0]["reason"] == "invalid-message"


def test_a_bot_may_send_as_much_again_after_a_second() -> None:
    """A fast one, whose speech is in bursts."""
    lab = Lab()
    for _ in range(2):
        for _ in range(MAX_FRAMES_PER_S):
            lab.say(event="unknown")
        lab.now_ms += 1_000
    assert not lab.stream.is_ended


def test_a_flood_of_an_account_ends_the_bots_that_flood() -> None:
    """Neither its other bots nor those of other accounts notice it."""
    accounts = Accounts()
    voice, other = Lab(accounts=accounts), Lab(account="other", accounts=accounts)
    floods = [Lab(accounts=accounts) for _ in range(10)]
    for lab in floods:
        for _ in range(MAX_FRAMES_PER_S):
            lab.say(event="unknown")
    ends = [each.of("ended")[0] for each in floods if each.stream.is_ended]
    assert 0 < len(ends) < len(floods)
    assert {each["reason"] for each in ends} == {"too-fast"}
    assert {"account's bots together" in each["detail"] for each in ends} == {True}
    for lab, count in ((voice, VOICE_FRAMES_PER_S), (other, MAX_FRAMES_PER_S)):
        for _ in range(count):
            lab.say(event="unknown")
        assert not lab.stream.is_ended


def test_a_flood_is_forgotten_with_the_last_stream_of_its_account() -> None:
    """A bot that is called again may send as much as the first one."""
    accounts = Accounts()
    for _ in range(2):
        labs = [Lab(accounts=accounts) for _ in range(4)]
        for lab in labs:
            for _ in range(MAX_FRAMES_PER_S):
                lab.say(event="unknown")
        assert not any(lab.stream.is_ended for lab in labs)
        for lab in labs:
            lab.stream.end("stopped")


def test_a_clear_reports_few_marks() -> None:
    """However long the bot has sent them."""
    lab = Lab()
    for _ in range(2):
        lab.mark(MAX_PENDING_MARKS // 2)
        lab.now_ms += 10_000
    lab.mark(MAX_INVALID)
    lab.say(event="clear")
    assert len(lab.of("mark")) == MAX_PENDING_MARKS
    lab.mark(1)
    lab.say(event="clear")
    assert len(lab.of("mark")) == MAX_PENDING_MARKS + 1


def test_a_mark_says_what_was_heard_and_when() -> None:
    """How much of the bot's audio was played, and the time since the bot was connected."""
    lab = Lab()
    lab.wait(1_000)
    lab.stream.read_binary(SOUND * 5)
    lab.wait(200)
    lab.say(event="mark", name="m")
    (key,) = (each for each in lab.pbx.sent if str(each).startswith("mark "))
    lab.stream.mark_returned(str(key).removeprefix("mark "))
    reported = json.loads(lab.bot.texts[-1])
    assert (reported["heardMs"], reported["atMs"]) == (100, 1_200)


def test_a_bot_hears_silence_while_its_action_has_the_caller() -> None:
    """A frame each 20 ms, from the start of the action to its end."""
    lab = Lab()
    lab.wait(1000)
    lab.stream.hear_caller(SOUND)
    lab.wait(1000)
    assert len(lab.bot.audio) == 1
    lab.stream.send("1", ActionMessage("started"))
    lab.wait(GAP_MS - 10)
    assert len(lab.bot.audio) == 1
    lab.wait(1000 - GAP_MS + 10)
    heard = lab.bot.audio[1:]
    assert len(heard) == 50
    assert all(each.endswith(SILENCE) for each in heard)
    lab.stream.send("2", ActionMessage("ended"))
    lab.wait(1000)
    assert len(lab.bot.audio) == 51


def test_silence_has_the_times_of_the_frames_that_it_replaces() -> None:
    """Since the bot was connected, as the caller's frames have them in Twilio's protocol."""
    lab = Lab(protocol="twilio", is_connected=False)
    lab.wait(100)
    lab.connect()
    lab.hear(SOUND)
    lab.stream.send("1", ActionMessage("started"))
    lab.wait(130)
    media = [each["media"] for each in map(json.loads, lab.bot.texts) if each["event"] == "media"]
    assert [int(each["timestamp"]) for each in media] == [20, 40, 60, 80, 100, 120, 140]
    assert lab.bot.audio == []


def test_no_silence_is_added_to_the_frames_of_a_caller() -> None:
    """A frame may be late."""
    lab = Lab()
    lab.stream.send("1", ActionMessage("started"))
    for wait_ms in (20, 60, 10, 10, 20):
        lab.wait(wait_ms)
        lab.stream.hear_caller(SOUND)
    assert len(lab.bot.audio) == 5
    assert all(each.endswith(SILENCE) for each in lab.bot.audio)


@pytest.mark.parametrize("is_fork", [False, True])
@pytest.mark.parametrize("is_acting", [False, True])
def test_a_caller_may_interrupt_a_bot_that_can_be_heard(is_fork: bool, is_acting: bool) -> None:
    """The turns of others are nothing to a fork, or to a bot whose action has the caller."""
    lab = Lab(is_fork=is_fork)
    if is_acting:
        lab.stream.send("1", ActionMessage("started"))
    for _ in range(10):
        lab.wait(20)
        lab.stream.hear_caller(SOUND)
    assert len(lab.of("speech")) == (not is_fork and not is_acting)


def test_a_bot_learns_that_it_was_interrupted() -> None:
    """With how much of its audio the caller has heard."""
    lab = Lab(barge_in="flush")
    lab.wait(1_000)
    lab.stream.read_binary(SOUND * 50)
    for _ in range(10):
        lab.wait(20)
        lab.stream.hear_caller(SOUND)
    (report,) = lab.of("barge-in")
    (sent,) = (json.loads(each) for each in lab.bot.texts if b"bargeIn" in each)
    assert sent["bargeIn"] == {"outcome": "flushed", "heardMs": report["heardMs"]}


def test_a_long_reason_of_an_end_is_cut() -> None:
    """A bot chooses it; it has no control characters in a terminal."""
    lab = Lab()
    lab.stream.end("bot-closed", "\x1b" + "x" * (MAX_DETAIL_CHARS + 1))
    assert lab.of("ended")[0]["detail"] == "x" * MAX_DETAIL_CHARS


def test_the_first_sound_of_a_bot_is_measured() -> None:
    """From its acceptance; silence and the caller are no sound of it, and later ones are turns."""
    lab = Lab()
    lab.hear(SOUND, SOUND)
    lab.stream.read_binary(SILENCE * 5)
    lab.wait(500)
    first_audio = lab.metrics.first_audio.series()
    assert first_audio.count == 0
    for _ in range(2):
        lab.stream.read_binary(SOUND * 5)
        lab.wait(1_000)
    assert first_audio.count == 1
    assert 0.5 <= first_audio.total <= 0.6


def test_a_stream_ends_once() -> None:
    """Its report says for how long and how much; what its ends do after that has no effect."""
    lab = Lab()
    lab.wait(100)
    lab.stream.read_binary(SOUND * 5)
    lab.wait(200)
    lab.stream.end("no-websocket", "HTTP 404", 404)
    lab.stream.end("stopped")
    lab.stream.bot_connected()
    lab.mark(1)
    lab.hear(SOUND)
    assert [each for each in lab.reports if each["type"] not in {"connected", "speech"}] == [
        {"type": "ended", "stream": "c.w1", "reason": "no-websocket", "atMs": 300,
         "durationMs": 300, "heardMs": 100, "detail": "HTTP 404", "httpStatus": 404},
    ]  # fmt: skip
    assert json.loads(lab.bot.texts[-1]) == {"event": "stop", "heardMs": 100, "atMs": 300}
    assert lab.bot.is_closed
    assert lab.bot.audio == []
    assert lab.metrics.ended.table()["no-websocket"] == 1


def test_a_bot_is_connected_late() -> None:
    """It gets what engines have sent, but not what the caller has said; the wait is reported."""
    lab = Lab(is_connected=False)
    lab.stream.send("1", TextMessage("hello"))
    lab.stream.send("2", DigitMessage("5"))
    lab.hear(SOUND)
    lab.wait(100)
    assert not lab.stream.live().is_connected
    assert lab.bot.texts == []
    lab.connect()
    assert lab.of("connected") == [
        {"type": "connected", "stream": "c.w1", "atMs": 120, "connectMs": 120}
    ]
    assert lab.metrics.connect_duration.series().total == pytest.approx(0.12)
    assert lab.bot.audio == []
    start, text, digit = map(json.loads, lab.bot.texts)
    assert start["event"] == "start"
    assert text == {"event": "switchroom", "text": "hello", "heardMs": 0, "atMs": 0}
    assert digit == {"event": "dtmf", "digit": "5", "heardMs": 0, "atMs": 0}


def test_a_bot_that_is_never_connected_has_no_duration() -> None:
    """Its position counts from the setup of the stream."""
    lab = Lab(is_connected=False)
    lab.now_ms += 50
    lab.stream.end("unreachable")
    assert lab.of("ended")[0]["durationMs"] == 0
    assert json.loads(lab.bot.texts[-1])["atMs"] == 50


@pytest.mark.parametrize(
    ("end", "reason"),
    [
        (lambda lab: lab.say(event="stop"), "bot-closed"),
        (lambda lab: lab.stream.bot_lost("bot-lost", ""), "bot-lost"),
        (lambda lab: lab.stream.pbx_lost(), "pbx-lost"),
        (lambda lab: lab.stream.read_binary(SOUND * 31_000), "too-fast"),
    ],
)
def test_either_side_may_end_a_stream(end: Callable[[Lab], None], reason: str) -> None:
    """The bot by its protocol's stop, or by more audio than ten minutes have."""
    lab = Lab()
    end(lab)
    assert [each["reason"] for each in lab.of("ended")] == [reason]


def test_actions_of_a_bot_are_reported() -> None:
    """With what was heard by then; neither invalid ones nor too many."""
    lab = Lab()
    lab.stream.read_binary(SOUND)
    lab.wait(50)
    for _ in range(MAX_ACTIONS):
        lab.say(event="switchroom", action={"type": "hangup"})
    assert len(lab.of("action")) == MAX_ACTIONS
    assert lab.of("action")[0] == {
        "type": "action", "stream": "c.w1", "atMs": 50, "heardMs": 20, "action": {"type": "hangup"},
    }  # fmt: skip
    for _ in range(MAX_INVALID):
        lab.say(event="switchroom", action={"type": "hangup"})
    assert len(lab.of("action")) == MAX_ACTIONS
    assert lab.of("ended") == []
    lab.stream.read_text(b'{"event":"switchroom","action":1e999}')
    assert lab.of("ended")[0]["reason"] == "invalid-message"


@pytest.mark.parametrize(
    ("is_fork", "why"), [(True, "a fork only listens"), (False, "another action is running")]
)
def test_an_action_that_cannot_run_is_not_reported(is_fork: bool, why: str) -> None:
    """An engine would read it only to reject it."""
    lab = Lab(is_fork=is_fork)
    if not is_fork:
        lab.stream.send("1", ActionMessage("started"))
    lab.say(event="switchroom", action={"type": "hangup"})
    assert lab.of("action") == []
    answer = json.loads(lab.bot.texts[-1])
    assert (answer["state"], answer["error"]) == ("rejected", why)
    assert not lab.stream.is_ended


def test_a_rejected_action_does_not_end_another() -> None:
    """The bot hears silence until the one that runs has ended."""
    lab = Lab()
    lab.stream.send("1", ActionMessage("started"))
    lab.stream.send("2", ActionMessage("rejected", "another action is running"))
    lab.stream.hear_caller(SOUND)
    assert lab.bot.audio[-1].endswith(SILENCE)
    lab.stream.send("3", ActionMessage("ended"))
    lab.stream.hear_caller(SOUND)
    assert lab.bot.audio[-1].endswith(SOUND)


def test_audio_of_another_format_is_not_played() -> None:
    """The PBX was given a format that is not the protocol's."""
    lab = Lab(is_connected=False)
    lab.stream.media_started(PbxEvent("MEDIA_START", format="ulaw"))
    assert lab.of("ended")[0]["reason"] == "pbx-unreachable"
    assert lab.pbx.sent == []


def test_a_message_waits_for_the_bot() -> None:
    """In order, and each once."""
    inbox = Inbox()
    first, second, third = (TextMessage(text) for text in "abc")
    assert [*inbox.put("1", first), *inbox.put("2", second), *inbox.put("1", first)] == []
    assert [*inbox.open()] == [first, second]
    assert [*inbox.put("2", second), *inbox.put("3", third)] == [third]


def test_what_waits_and_what_is_remembered_has_an_end() -> None:
    """A bot that never comes fills no memory."""
    inbox = Inbox()
    for number in range(MAX_IDS + 1):
        inbox.put(str(number), TextMessage("a"))
    assert len([*inbox.open()]) == MAX_EARLY
    assert [*inbox.put("0", TextMessage("a"))] == [TextMessage("a")]
    for number in (2, MAX_IDS):
        assert [*inbox.put(str(number), TextMessage("a"))] == []


def test_marks_of_the_same_name_have_keys_of_their_own() -> None:
    """The last one that was heard is remembered; one that was cleared is not."""
    names = MarkNames()
    keys = [names.add("a"), names.add('"'), names.add("a")]
    assert len({*keys}) == 3
    assert names.take(keys[0], is_cleared=False) == "a"
    assert names.take(keys[1], is_cleared=True) == '"'
    assert names.last_heard == "a"
