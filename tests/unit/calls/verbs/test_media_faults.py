"""Audio that cannot be played: it is reported, and `onError` runs instead of its verb."""

import json
from typing import Any

import pytest

from engine.calls.model.call_states import Gathering, Playing
from engine.calls.model.commands import Play, StartVoicemail
from engine.calls.model.events import LegEnded, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionReceived, MediaFetched
from engine.calls.model.recording import RecordingDestination
from engine.calls.verbs.gather.clocks import GRACE_MS
from engine.calls.verbs.media_faults import take_fault
from engine.calls.verbs.play import HANGUP_GRACE_MS
from tests.harness.calls.builders import CLIPS, HTTPS, MAIN, Story, answered_call, say, tree
from tests.harness.calls.flow_calls import spoken_text
from tests.harness.calls.flows import load_nodes, outline, run_flow
from tests.harness.calls.screenings import FIRST, screening_call, screening_of
from wire.flow import FlowOutline
from wire.media import MediaFault, Speech
from wire.verbs import Play as PlayVerb

HOOK = "https://example.com/hook"
NOT_FOUND = MediaFault(HTTPS, "not_found")
PLAY = {"type": "play", "data": {"audioUrl": HTTPS}}
GATHER = {"type": "gather", "data": {"audioUrl": HTTPS}}
RECORD = {"type": "record", "data": {"audioUrl": HTTPS, "beep": False}}
SORRY = say("sorry")


def begin(verb: dict[str, Any], **more: Any) -> Story:
    """Return a call that runs a verb and then sends a webhook request."""
    return answered_call(
        {**verb, "action": HOOK, **more},
        recording_destination=RecordingDestination("https://archive/", "acme/2026-11-21"),
    )


def fail_fetch(story: Story, *faults: MediaFault, clips: Any = ()) -> tuple[Any, ...]:
    """Answer the last fetch with these faults."""
    request = story.commands_of(FetchMedia)[-1].request
    return story.take(MediaFetched(request, clips, (), faults or (NOT_FOUND,)))


def fail_node_fetch(story: Story, flow: FlowOutline) -> Story:
    """Answer the last fetch with a fault, and load the node that follows."""
    return load_nodes(story, flow, fail_fetch(story))


def reported(story: Story) -> list[tuple[Any, ...]]:
    """Return leg, source and reason of each report."""
    return [
        (each.channel_id, each.source, each.reason)
        for each in story.emitted
        if each.event == "media-failed"
    ]


def last_body(story: Story) -> dict[str, Any]:
    """Return the body of the last webhook request."""
    body: dict[str, Any] = json.loads(story.commands_of(SendWebhook)[-1].body)
    return body


@pytest.mark.parametrize("verb", [PLAY, GATHER, RECORD])
def test_audio_that_cannot_be_fetched_is_reported(verb: dict[str, Any]) -> None:
    """An event names the leg, the source and the reason; the verb goes on without it."""
    story = begin(verb)
    fail_fetch(story)
    assert reported(story) == [(MAIN, HTTPS, "not_found")]
    if verb is GATHER:
        assert story.state_as(Gathering).phase == "first"
    if verb is RECORD:
        assert story.commands_of(StartVoicemail)


def test_the_next_webhook_reports_it_once() -> None:
    """The request after a failed play has `mediaFault`; the one after that has not."""
    story = begin(PLAY)
    fail_fetch(story)
    assert last_body(story)["mediaFault"] == {"source": HTTPS, "reason": "not_found"}
    request = story.commands_of(SendWebhook)[-1].request
    story.take(ActionReceived(request, tree({**PLAY, "action": HOOK})))
    story.deliver_media()
    story.take(PlaybackEnded(story.commands_of(Play)[-1].playback), 4_000)
    assert "mediaFault" not in last_body(story)


def test_the_webhook_of_a_gather_reports_it() -> None:
    """A caller who did not press a key may not have heard the question."""
    story = begin(GATHER)
    fail_fetch(story)
    story.press("#")
    assert last_body(story)["mediaFault"] == {"source": HTTPS, "reason": "not_found"}
    assert take_fault(story.call)[1] is None
    quiet = begin({"type": "gather"})
    quiet.press("#")
    assert "mediaFault" not in last_body(quiet)


def test_the_webhook_of_a_voicemail_reports_it() -> None:
    """A caller who left no message may not have heard the prompt."""
    story = begin(RECORD)
    fail_fetch(story)
    story.take(LegEnded(MAIN, 16), 500)
    assert last_body(story)["mediaFault"] == {"source": HTTPS, "reason": "not_found"}


@pytest.mark.parametrize("verb", [PLAY, say("hello"), GATHER, RECORD])
def test_on_error_runs_instead(verb: dict[str, Any]) -> None:
    """Neither the verb nor its action runs."""
    story = begin(verb, onError=SORRY)
    fail_fetch(story)
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("sorry"),)
    assert not story.commands_of(SendWebhook)
    assert not story.commands_of(StartVoicemail)


def test_on_error_may_be_an_address() -> None:
    """The request has the verb that failed and the fault."""
    story = begin(PLAY, onError=HTTPS)
    fail_fetch(story)
    assert story.commands_of(SendWebhook)[-1].url == HTTPS
    body = last_body(story)
    assert (body["event"], body["mediaFault"]["reason"]) == ("play", "not_found")


def test_the_rest_of_a_list_is_played() -> None:
    """Without `onError`, what could be fetched is played; with it, nothing is."""
    verb = {"type": "play", "data": {"audioUrl": [HTTPS, HTTPS + "b"]}}
    story = begin(verb)
    fail_fetch(story, MediaFault(HTTPS + "b", "timeout"), clips=CLIPS[:1])
    assert reported(story) == [(MAIN, HTTPS + "b", "timeout")]
    assert story.commands_of(Play)[-1].clips == CLIPS[:1]
    strict = begin(verb, onError=SORRY)
    fail_fetch(strict, MediaFault(HTTPS + "b", "timeout"), clips=CLIPS[:1])
    assert not strict.commands_of(Play)


@pytest.mark.parametrize("verb", [PLAY, GATHER])
def test_a_fetch_that_takes_too_long_is_reported(verb: dict[str, Any]) -> None:
    """The reason is `timeout`."""
    story = begin(verb, onError=SORRY)
    story.pass_deadline()
    assert reported(story) == [(MAIN, HTTPS, "timeout")]
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("sorry"),)


@pytest.mark.parametrize("verb", [PLAY, GATHER])
@pytest.mark.parametrize("recovers", [False, True])
def test_a_playback_that_fails_on_the_pbx_is_reported(verb: dict[str, Any], recovers: bool) -> None:
    """The PBX cannot play it, and its leg stays up; an engine that takes over reports it, too."""
    story = begin(verb, onError=SORRY)
    story.deliver_media()
    playback = story.commands_of(Play)[-1].playback
    began = story.now
    assert story.take(PlaybackEnded(playback, failed=True)) == ()
    if recovers:
        story.take(PlaybackEnded(playback))
        story.take(Recovered())
    else:
        story.pass_deadline()
        assert story.now == began + HANGUP_GRACE_MS
    assert reported(story) == [(MAIN, HTTPS, "not_played")]
    assert story.commands_of(FetchMedia)[-1].sources == (Speech("sorry"),)


@pytest.mark.parametrize("verb", [PLAY, GATHER])
def test_a_caller_who_hangs_up_is_no_fault(verb: dict[str, Any]) -> None:
    """The playback fails just before the end of its leg; the event may be repeated."""
    story = begin(verb)
    story.deliver_media()
    for _ in range(2):
        story.take(PlaybackEnded(story.commands_of(Play)[-1].playback, failed=True))
    story.take(LegEnded(MAIN, 16), 50)
    assert reported(story) == []


def test_a_gather_waits_for_digits_after_a_failed_playback() -> None:
    """The first digit's clock begins when the fault is known; a digit before it counts."""
    story = begin(GATHER)
    story.deliver_media()
    playback = story.commands_of(Play)[-1].playback
    story.take(PlaybackEnded(playback, failed=True))
    story.pass_deadline()
    assert story.state_as(Gathering).deadline_ms == story.now + 5_000 + GRACE_MS
    eager = begin(GATHER)
    eager.deliver_media()
    eager.take(PlaybackEnded(playback, failed=True))
    assert eager.press("1", after_ms=100) == ()
    assert eager.state_as(Gathering).digits == "1"


def test_a_failed_playback_does_not_prolong_the_verbs_timeout() -> None:
    """A gather with a timeout of its own ends by then, although the prompt has just failed."""
    story = begin(GATHER, timeout=1)
    limit_ms = story.state_as(Gathering).limit_ms
    story.now = limit_ms - HANGUP_GRACE_MS // 2
    story.deliver_media()
    story.take(PlaybackEnded(story.commands_of(Play)[-1].playback, failed=True))
    assert story.state_as(Gathering).deadline_ms == limit_ms


def test_a_fetch_without_a_reason() -> None:
    """That it got nothing is a fault as well."""
    story = begin(PLAY)
    story.deliver_media(())
    assert reported(story) == [(MAIN, HTTPS, "unavailable")]


def test_a_long_text_is_shortened() -> None:
    """An event has the beginning of the text that could not be spoken."""
    story = begin(say("x" * 4_000))
    story.pass_deadline()
    assert reported(story) == [(MAIN, "x" * 200, "timeout")]


def test_the_whisper_of_a_dialed_leg() -> None:
    """The report names that leg, and its `onError` runs on it."""
    story = screening_call(whisper={**say("for sales"), "onError": PLAY})
    fail_fetch(story, MediaFault("for sales", "speech_failed"))
    assert reported(story) == [(FIRST, "for sales", "speech_failed")]
    state = screening_of(story).state
    assert isinstance(state, Playing)
    assert isinstance(state.verb, PlayVerb)


def test_the_node_of_a_flow() -> None:
    """A node's `onError` is the next node; without it, `next` is."""
    nodes: dict[str, Any] = {"sorry": SORRY, "after": say("after")}
    for on_error, text in ({"onError": "sorry"}, "sorry"), ({}, "after"):
        flow = outline("first", first={**PLAY, "next": "after", **on_error}, **nodes)
        assert spoken_text(fail_node_fetch(run_flow(flow), flow)) == text


def test_a_menu_of_a_flow() -> None:
    """A menu whose prompt fails takes `onError`, without waiting for a key."""
    menu = {
        "type": "menu",
        "data": {"text": "1 or 2?"},
        "branches": {"1": "one"},
        "noInput": "one",
        "invalid": "one",
        "onError": "sorry",
    }
    flow = outline("menu", menu=menu, one=say("one"), sorry=SORRY)
    assert spoken_text(fail_node_fetch(run_flow(flow), flow)) == "sorry"
