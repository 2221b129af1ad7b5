"""The speech of a gather: when the caller speaks, what was understood, and what a sound does.

A sound pauses the prompt, or holds it back; what the gateway's detector says of it resumes or ends
the prompt. The recognizer finds the utterances: while one lasts, the clock of the first digit
stands still.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call, Step
from engine.calls.model.call_states import Gathering
from engine.calls.model.commands import Command, PausePlayback, ResumePlayback
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamEvent,
    StreamInterrupted,
    StreamSpeechChanged,
)
from engine.calls.verbs.gather.clocks import (
    MAX_PAUSE_MS,
    enter_prompt,
    holds_prompt,
    wait_first_input,
    wait_transcript,
)
from engine.calls.verbs.gather.end import finish
from engine.calls.verbs.gather.prompt import has_prompt_failed, play_prompt
from engine.calls.verbs.suspendable_playback import stop_sound

NOISE_CONFIDENCE = 0.5  # that a sound needs in which the detector heard no voice


def on_speech_event(call: Call, state: Gathering, event: StreamEvent, now: int) -> Step:
    """React to the recognizer that listens for the gather."""
    match event:
        case SpeechUnderstood():
            return _on_understood(call, state, event, now)
        case StreamSpeechChanged(by="caller"):
            return _on_speech(call, state, event.is_speaking, now)
        case StreamInterrupted() if state.phase == "prompt" and not has_prompt_failed(state):
            return _on_sound(call, state, event, now)
        case StreamInterrupted() if state.phase == "fetch":
            return _on_sound_before_prompt(call, state, event, now)
        case StreamConnected():
            return replace(call, state=replace(state, recognizer_error="")), ()
        case StreamEnded(reason=reason, detail=detail):
            return on_lost(call, state, detail or reason, now)
        case _:
            return call, ()


def on_lost(call: Call, state: Gathering, error: str, now: int) -> Step:
    """Go on without the recognizer that has ended; another one may follow."""
    return forget_utterance(call, replace(state, recognizer_error=error), now)


def on_failed(call: Call, state: Gathering, now: int) -> Step:
    """Continue without speech: no recognizer can be had."""
    state = replace(state, recognition="failed")
    if not state.recognizer_error:
        state = replace(state, recognizer_error="the connection to the recognizer was lost")
    return forget_utterance(call, state, now)


def waits_in_vain(state: Gathering) -> bool:
    """Return whether nothing can end the gather but a clock: the caller can only speak."""
    is_deaf = state.recognition == "failed" and not state.verb.data.takes_digits
    return is_deaf and state.phase == "first" and not state.suspended


def forget_utterance(call: Call, state: Gathering, now: int) -> Step:
    """Go on as if nothing had been said: the recognizer has ended, or the leg is on hold."""
    was_speaking = state.utterances > 0
    state, commands = continue_prompt(replace(state, utterances=0), now)
    if holds_prompt(state) and not state.suspended:
        return play_prompt(call, state, now)
    if state.phase == "speech" or (was_speaking and state.phase == "first"):
        return wait_first_input(call, state, now), commands
    return replace(call, state=state), commands


def continue_prompt(state: Gathering, now: int) -> tuple[Gathering, tuple[Command, ...]]:
    """Resume a prompt that a sound has paused."""
    if state.phase != "prompt":
        return replace(state, paused_ms=0), ()
    if not state.paused_ms:
        return state, ()
    state = unpaused(state, now)
    if not state.awaits_key_up:  # whose release decides
        state = enter_prompt(state)
    return state, (ResumePlayback(state.request),)


def unpaused(state: Gathering, now: int) -> Gathering:
    """Return the state with the prompt's end as if it resumed now."""
    if not state.paused_ms or state.phase != "prompt":
        return replace(state, paused_ms=0)
    return replace(state, ends_ms=state.ends_ms + max(0, now - state.paused_ms), paused_ms=0)


def _on_understood(call: Call, state: Gathering, event: SpeechUnderstood, now: int) -> Step:
    least = state.verb.data.least_confidence
    if not event.is_voice:  # recognizers of free speech make words of a noise, too
        least = max(least, NOISE_CONFIDENCE)
    is_match = event.text != "" and event.confidence >= least
    if not is_match and not event.is_voice:
        return _on_noise(call, state, now)
    state = replace(state, speech=event.text, confidence=event.confidence)
    return finish(call, state, "speech" if is_match else "no-match", now)


def _on_noise(call: Call, state: Gathering, now: int) -> Step:
    """Go on; the next utterance may have begun before it was known that this was none."""
    if state.utterances > 1:
        return replace(call, state=replace(state, utterances=state.utterances - 1)), ()
    return forget_utterance(call, state, now)


def _on_speech(call: Call, state: Gathering, is_speaking: bool, now: int) -> Step:
    """Await the transcript: of the longest utterance, or of one that is over."""
    # An end without a beginning: the report of the beginning is lost.
    begun = state.utterances + 1 if is_speaking else max(state.utterances, 1)
    state = replace(state, utterances=begun)
    if state.phase not in {"first", "speech"} and not holds_prompt(state):
        # The prompt's end decides.
        return replace(call, state=state), ()
    return replace(call, state=wait_transcript(state, now, is_over=not is_speaking)), ()


def _on_sound(call: Call, state: Gathering, event: StreamInterrupted, now: int) -> Step:
    match event.outcome:
        case "paused" if not state.paused_ms:
            return replace(call, state=_paused(state, now)), (PausePlayback(state.request),)
        case "resumed":
            state, commands = continue_prompt(state, now)
            return replace(call, state=state), commands
        case "flushed":
            stops = stop_sound(state)
            return wait_first_input(call, state, now), stops
        case _:
            return call, ()


def _on_sound_before_prompt(
    call: Call, state: Gathering, event: StreamInterrupted, now: int
) -> Step:
    """Hold the prompt back during a sound; a caller who speaks already needs no prompt."""
    if event.outcome == "paused":
        return replace(call, state=replace(state, paused_ms=state.paused_ms or now)), ()
    if not state.paused_ms:  # the sound began before the gather
        return call, ()
    state = replace(state, paused_ms=0)
    if event.outcome == "flushed":
        return wait_first_input(call, replace(state, phase="first"), now), ()
    if holds_prompt(state) and not state.utterances:
        return play_prompt(call, state, now)
    return replace(call, state=state), ()


def _paused(state: Gathering, now: int) -> Gathering:
    """Pause the prompt; without another word of the gateway it continues."""
    deadline_ms = min(now + MAX_PAUSE_MS, state.limit_ms)
    if state.awaits_key_up:  # whose release decides
        deadline_ms = state.deadline_ms
    return replace(state, paused_ms=now, deadline_ms=deadline_ms)
