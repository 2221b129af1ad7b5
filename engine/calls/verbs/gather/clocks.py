"""The clocks of gather: first input, between digits, key-up; each ends at the verb's own limit.

Asterisk reports a digit at key-up, so each clock waits GRACE_MS longer for a key that went down in
time, and as long as AMI reports the key as down (DigitStarted), up to MAX_KEY_DOWN_MS.
"""

from msgspec.structs import replace

from engine.calls.model.call import Call
from engine.calls.model.call_states import Gathering, GatherPhase
from engine.calls.model.events import DigitPressed
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS

GRACE_MS = 120
TRANSCRIPT_GRACE_MS = 10_000  # a large model on a busy machine takes seconds
MAX_KEY_DOWN_MS = 10_000  # a key that is down for longer is not waited for
MAX_PAUSE_MS = 1_000  # a gateway says within 400 ms what a sound was


def wait_first_input(call: Call, state: Gathering, now: int) -> Call:
    """Wait for a digit or speech; or for the transcript of a caller who speaks already."""
    if state.suspended:
        return replace(call, state=replace(state, phase="first", deadline_ms=call.must_end_ms))
    if state.utterances:
        return replace(call, state=wait_transcript(state, now))
    return replace(call, state=enter_phase(state, "first", now + first_input_ms(state)))


def wait_transcript(state: Gathering, now: int, *, is_over: bool = False) -> Gathering:
    """Wait for the transcript of an utterance that has begun, or that is over."""
    phase: GatherPhase = "fetch" if holds_prompt(state) else "speech"
    wait_ms = TRANSCRIPT_GRACE_MS if is_over else transcript_ms(state)
    return enter_phase(state, phase, now + wait_ms)


def holds_prompt(state: Gathering) -> bool:
    """Return whether the prompt is there, and waits for a caller who speaks already."""
    return state.phase == "fetch" and state.clips != ()


def wait_next_digit(state: Gathering, now: int) -> Gathering:
    return enter_phase(state, "between", now + next_digit_ms(state))


def first_input_ms(state: Gathering) -> int:
    return state.verb.data.timeout + GRACE_MS


def next_digit_ms(state: Gathering) -> int:
    return state.verb.data.digit_timeout + GRACE_MS


def transcript_ms(state: Gathering) -> int:
    """Return how long the transcript of the longest utterance takes."""
    return state.verb.data.endpointing.max_ms + TRANSCRIPT_GRACE_MS


def wait_key_up(call: Call, state: Gathering, pressed_ms: int) -> Call:
    """Wait for a key that went down in time: its release decides."""
    leg = call.leg(state.leg)
    is_earlier = leg is not None and pressed_ms < leg.digits_from_ms
    ends_now = state.phase in {"first", "between"} or state.deadline_ms >= state.limit_ms
    until_ms = min(pressed_ms + MAX_KEY_DOWN_MS, call.must_end_ms)
    in_time = pressed_ms <= state.deadline_ms - GRACE_MS and until_ms > state.deadline_ms
    if is_earlier or not ends_now or not in_time:
        return call
    return replace(call, state=replace(state, deadline_ms=until_ms, awaits_key_up=True))


def is_after_timeout(state: Gathering, pressed: DigitPressed) -> bool:
    """Return whether the phase's clock had run out; it does not run during an outage."""
    has_clock = state.phase in {"first", "between"} and not pressed.missed
    return has_clock and pressed.pressed_ms > state.deadline_ms - GRACE_MS


def enter_prompt(state: Gathering) -> Gathering:
    return enter_phase(state, "prompt", state.ends_ms + PLAYBACK_GRACE_MS)


def enter_phase(state: Gathering, phase: GatherPhase, deadline_ms: int) -> Gathering:
    deadline_ms = min(deadline_ms, state.limit_ms)
    return replace(state, phase=phase, deadline_ms=deadline_ms, awaits_key_up=False, paused_ms=0)
