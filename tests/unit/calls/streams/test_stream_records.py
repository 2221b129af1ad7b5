"""Streams in call records: each once, however it ended."""

from typing import Any

import msgspec
import pytest

from engine.calls.media.stream_losses import RETRY_DELAYS_MS
from engine.calls.model.call_states import Streaming
from engine.calls.model.causes import NORMAL
from engine.calls.model.events import CallDropped, LegEnded
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.io_results import ActionReceived
from engine.calls.model.requests import StreamStopRequested
from engine.calls.model.storage_format import decode_call, encode
from engine.calls.model.stream_events import (
    StreamConnected,
    StreamEnded,
    StreamInterrupted,
    StreamSpeechChanged,
)
from engine.calls.model.streams import MAX_LATENCIES, EndedStream, Stream
from engine.calls.reporting.ended_legs import MAX_HISTORY
from engine.calls.verbs.forks import MAX_FORKS
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, say, tree
from tests.harness.calls.call_records import record
from tests.harness.calls.recognizers import listening
from tests.harness.calls.streams import (
    FIRST,
    SECOND,
    connect,
    conversing,
    current,
    end,
    reach_mark,
    request_action,
    requested,
    results,
    speak,
    stream_verb,
)
from wire.events.record import StreamRecord

PAUSE: dict[str, Any] = {"type": "pause", "data": {"length": 600}}


def streams(story: Story) -> tuple[StreamRecord, ...]:
    """Hang up all legs; return the streams of the record."""
    story.hang_up()
    return record(story).streams


def stream(story: Story) -> StreamRecord:
    """Hang up all legs; return the only stream of the record."""
    (found,) = streams(story)
    return found


def answer(story: Story, latency_ms: int) -> None:
    """Let the caller fall silent, and the bot answer and fall silent."""
    bot = current(story)
    story.take(StreamSpeechChanged(bot, "caller", False, story.now, 0), 400)
    story.take(StreamSpeechChanged(bot, "bot", True, story.now, 0, latency_ms), latency_ms)
    story.take(StreamSpeechChanged(bot, "bot", False, story.now, 300), 300)


def test_a_conversation() -> None:
    """Its bot, times and turns; the address has a secret, which is in no record."""
    story = requested(say(), url="wss://bot.example.com:8443/v1?key=secret", bargeIn="pause")
    began_ms = story.now
    connect(story)
    connected_ms = story.now
    for latency_ms in (700, 400, 900):
        answer(story, latency_ms)
    for outcome in ("paused", "resumed", "paused", "flushed"):
        story.take(StreamInterrupted(current(story), outcome, story.now, 300), 50)
    end(story, "bot-closed", heard_ms=900, after_ms=1_000)
    ended_ms = story.now
    assert stream(story) == StreamRecord(
        stream_id=FIRST,
        protocol="twilio",
        host="bot.example.com:8443",
        started_ms=began_ms,
        connected_ms=connected_ms,
        ended_ms=ended_ms,
        heard_ms=900,
        reason="bot-closed",
        turns=3,
        barge_ins=1,
        median_latency_ms=700,
        max_latency_ms=900,
    )


def test_calls_without_streams_omit_them() -> None:
    """As other parts of a record that do not apply."""
    story = answered_call(say())
    story.hang_up()
    assert b'"streams"' not in msgspec.json.encode(record(story))


def test_a_bot_that_never_spoke() -> None:
    """Nothing is counted."""
    found = stream(requested())
    assert (found.reason, found.connected_ms, found.turns, found.heard_ms) == ("hangup", 0, 0, 0)
    assert (found.median_latency_ms, found.max_latency_ms) == (None, None)


def test_a_stream_that_began_after_its_call_had_ended() -> None:
    """The caller hung up in an outage, after which the stream began first."""
    story = answered_call({**PAUSE, "action": stream_verb()})
    seen_ms = story.now + 1_000
    story.pass_deadline()
    story.take(LegEnded(MAIN, NORMAL, seen_ms=seen_ms))
    (found,) = record(story).streams
    assert (found.started_ms, found.ended_ms) == (seen_ms, seen_ms)


def test_a_stream_that_was_resumed_counts_once() -> None:
    """Its turns and what was heard are the sums; the id is that of the webhook."""
    story = conversing(HTTPS)
    connected_ms = story.now
    answer(story, 500)
    reach_mark(story, "m1", 400)
    end(story, "bot-lost", heard_ms=400)
    assert current(story) == SECOND
    connect(story)
    answer(story, 800)
    end(story, "bot-closed", heard_ms=350)
    (result,) = results(story)
    found = stream(story)
    assert (found.stream_id, found.heard_ms) == (result["streamId"], result["heardMs"])
    assert (found.stream_id, found.resumes, found.heard_ms) == (SECOND, 1, 750)
    assert (found.turns, found.max_latency_ms, found.connected_ms) == (2, 800, connected_ms)


@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_call_that_ends_between_two_tries(is_dropped: bool) -> None:
    """The lost stream is listed; a failure of the engine makes no difference."""
    story = requested(HTTPS)
    for delay_ms in RETRY_DELAYS_MS:
        end(story, "unreachable")
        if delay_ms:
            break
    assert story.state_as(Streaming).stream == ""
    story.take(CallDropped("internal_error")) if is_dropped else story.hang_up()
    (found,) = record(story).streams
    assert (found.stream_id, found.reason, found.resumes) == (SECOND, "hangup", 1)


@pytest.mark.parametrize("is_dropped", [False, True])
def test_a_stream_that_waits_for_an_action_of_its_bot(is_dropped: bool) -> None:
    """It is listed once, and so is a fork that runs beside it."""
    story = conversing()
    request_action(story, stream_verb(PAUSE, fork=True))
    story.take(CallDropped("internal_error")) if is_dropped else story.hang_up()
    found = record(story).streams
    assert [(each.fork, each.reason) for each in found] == [(False, "hangup"), (True, "hangup")]


def forking() -> tuple[Story, Stream]:
    """Return a call with a fork that has its bot."""
    story = answered_call(stream_verb(PAUSE, fork=True))
    (fork,) = story.call.streams
    story.take(StreamConnected(fork.id, story.now, 9), 9)
    return story, fork


def test_a_fork_that_was_resumed_counts_once() -> None:
    """Also while it waits for its next try."""
    story, _ = forking()
    for _ in range(2):
        story.take(StreamEnded(story.call.streams[0].id, "bot-lost"), 100)
    found = stream(story)
    assert (found.fork, found.resumes, found.reason) == (True, 1, "hangup")


def test_a_fork_that_is_stopped() -> None:
    """Its bot only listened."""
    story, fork = forking()
    story.take(StreamStopRequested(fork.id), 1_000)
    found = stream(story)
    assert (found.stream_id, found.reason, found.heard_ms) == (fork.id, "stopped", 0)


@pytest.mark.parametrize("is_dropped", [False, True])
def test_recognizers_are_parts_of_gathers(is_dropped: bool) -> None:
    """They are not listed, also if they listen when the call ends."""
    story = listening()
    story.take(CallDropped("internal_error")) if is_dropped else story.hang_up()
    assert record(story).streams == ()


def test_a_fork_too_many_has_not_begun() -> None:
    """The timeline has it."""
    verb: Any = PAUSE
    for number in range(MAX_FORKS + 1):
        verb = stream_verb(verb, fork=True, url=f"wss://bot{number}.example.com/")
    hosts = [each.host for each in streams(answered_call(verb))]
    assert sorted(hosts) == [f"bot{number}.example.com" for number in range(1, MAX_FORKS + 1)]


def test_the_list_is_bounded() -> None:
    """The last streams are kept, and of each the latencies of the last turns."""
    story = conversing(HTTPS)
    for latency_ms in range(MAX_LATENCIES + 20):
        answer(story, latency_ms)
    assert len(story.call.streams[0].activity.latencies_ms) == MAX_LATENCIES
    for number in range(MAX_HISTORY + 2):
        end(story, "bot-closed")
        request = story.commands_of(SendWebhook)[-1].request
        again = stream_verb(HTTPS, url=f"wss://bot{number}.example.com/")
        story.take(ActionReceived(request, tree(again)))
    found = streams(story)
    assert (len(found), found[-1].host) == (MAX_HISTORY, f"bot{MAX_HISTORY + 1}.example.com")


def test_an_ended_stream_is_decoded_as_it_was_stored() -> None:
    """With what happened on it."""
    story = conversing(PAUSE)
    answer(story, 500)
    speak(story, is_speaking=True, heard_ms=0)
    end(story, "bot-closed")
    ended = decode_call(encode(story.call)).ended_streams
    assert ended == story.call.ended_streams
    assert isinstance(ended[0], EndedStream)
