"""Starts and ends the recognizer of a gather: it listens as long as the gather can use speech."""

from msgspec.structs import replace

from engine.calls.media.streams import recognizer_of
from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Command
from engine.calls.model.streams import Stream
from engine.calls.verbs import forks
from engine.calls.verbs.gather import speech
from engine.calls.verbs.gather.end import finish
from engine.calls.verbs.registry import run_until_waiting
from wire.streams.recognizer import RecognizerStart
from wire.streams.setup import Recognition
from wire.verbs import GatherData

MAX_FAILURES = 2  # in a row, while the caller can only speak


def sync_recognizer(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    """Start or end the recognizer as the call now requires; `commands` are earlier commands."""
    state = call.state
    if not call.streams and not (isinstance(state, Gathering) and state.verb.data.hears_speech):
        return call, commands
    if isinstance(state, Gathering) and state.recognition == "started":
        if _is_given_up(state, recognizer_of(call)):
            call, more = speech.on_failed(call, state, now)
            return sync_recognizer(call, (*commands, *more), now)
        if _can_use_speech(call, state):
            return call, commands
    if isinstance(state, Gathering) and speech.waits_in_vain(state):
        call, more = finish(call, state, "recognizer-failed", now)
        return sync_recognizer(*run_until_waiting(call, (*commands, *more), now), now)
    call, more = _end(call)
    return _start(call, (*commands, *more), now)


def _is_given_up(state: Gathering, stream: Stream | None) -> bool:
    """Return whether the gather goes on without speech; a caller who can only speak waits less."""
    if stream is None:
        return True
    must_speak = not state.verb.data.takes_digits and state.phase in {"first", "speech"}
    return must_speak and stream.is_lost and stream.failures > MAX_FAILURES


def _end(call: Call) -> Step:
    """End a recognizer that listens for a gather no longer."""
    stream = recognizer_of(call)
    if stream is None:
        return call, ()
    if isinstance(call.state, Gathering) and call.state.recognition == "started":
        call = replace(call, state=replace(call.state, recognition="", utterances=0))
    return forks.end_recognizer(call, stream)


def _start(call: Call, commands: tuple[Command, ...], now: int) -> Step:
    state = call.state
    if not isinstance(state, Gathering) or not _can_use_speech(call, state):
        return call, commands
    data = state.verb.data
    call = replace(call, state=replace(state, recognition="started"))
    call, more = forks.start_recognizer(call, state.leg, _recognition(data), data.barge_in, now)
    return call, (*commands, *more)


def _can_use_speech(call: Call, state: Gathering) -> bool:
    data = state.verb.data
    if not data.hears_speech or state.recognition == "failed" or state.suspended or state.digits:
        return False
    has_begun = data.barge_in != "off" or state.phase in {"first", "speech"}
    return has_begun and call.is_up(state.leg)


def _recognition(data: GatherData) -> Recognition:
    end = data.endpointing
    start = RecognizerStart(
        language=data.language, hints=data.hints, silence_ms=end.silence_ms, max_ms=end.max_ms
    )
    return Recognition(data.recognizer, start)
