"""gather: collects digits with four clocks: prompt, first input, between digits, whole verb.

It begins with the digits that were typed ahead. A digit stops the prompt, and ends the speech that
may be understood instead (`speech.py`). Its time is its key-down, so the clocks wait for a key that
is still down (`clocks.py`). Its prompt is in `prompt.py`, its result in `end.py`; PHASES shows what
follows what.
"""

from collections.abc import Callable, Mapping
from typing import NamedTuple

from msgspec.structs import replace

from engine.calls.model.call import Call, Step, is_held
from engine.calls.model.call_states import Advance, Gathering, GatherPhase
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    DigitStarted,
    Event,
    LegEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.sealed_digits import UNSEALED, count_keys, is_sealed
from engine.calls.model.stream_events import (
    SpeechUnderstood,
    StreamConnected,
    StreamEnded,
    StreamInterrupted,
    StreamSpeechChanged,
)
from engine.calls.verbs.gather.clocks import (
    GRACE_MS,
    enter_phase,
    enter_prompt,
    first_input_ms,
    holds_prompt,
    is_after_timeout,
    next_digit_ms,
    transcript_ms,
    wait_first_input,
    wait_key_up,
    wait_next_digit,
)
from engine.calls.verbs.gather.end import finish
from engine.calls.verbs.gather.prompt import (
    has_prompt_failed,
    on_prompt_ended,
    on_prompt_failed,
    on_prompt_fetched,
    on_prompt_timeout,
    play_prompt,
    start_prompt,
)
from engine.calls.verbs.gather.speech import (
    continue_prompt,
    forget_utterance,
    on_speech_event,
    unpaused,
)
from engine.calls.verbs.media_faults import playback_fault
from engine.calls.verbs.play import FETCH_TIMEOUT_MS
from engine.calls.verbs.play import GRACE_MS as PLAYBACK_GRACE_MS
from engine.calls.verbs.suspendable_playback import (
    begin_prompt,
    is_restarted,
    latest_end_ms,
    length_ms,
    stop_sound,
    suspend_prompt,
)
from engine.calls.verbs.type_ahead import (
    drop_earlier,
    is_of_earlier_state,
    put_back,
    take,
)
from wire.verbs import Gather
from wire.webhooks import GatherReason

MAX_GATHER_MS = 3_600_000


def _on_fetch_timeout(call: Call, state: Gathering, now: int) -> Step:
    if holds_prompt(state):
        return forget_utterance(call, state, now)
    return on_prompt_failed(call, state, playback_fault(state.verb, "timeout"), now)


def _on_no_input(call: Call, state: Gathering, now: int) -> Step:
    return finish(call, state, "timeout", now)


def _on_no_further_digit(call: Call, state: Gathering, now: int) -> Step:
    return finish(call, state, "digit-timeout", now)


class Phase(NamedTuple):
    """A phase of a gather; its deadline is no later than the whole gather's."""

    ends_when: str
    deadline: str
    next: str
    on_timeout: Callable[[Call, Gathering, int], Step]
    timeout_ms: Callable[[Gathering], int] | None = None  # None: as long as its prompt


PHASES: Mapping[GatherPhase, Phase] = {
    "fetch": Phase(
        "the prompt's audio is there, and no sound of the caller holds it back",
        "20 s",
        "`prompt`; without audio, or after speech, `first`",
        _on_fetch_timeout,
        lambda _state: FETCH_TIMEOUT_MS,
    ),
    "prompt": Phase(
        "the prompt has been played, a digit, or speech that stops it",
        "the prompt's length and 5 s; a pause for a sound, 1 s",
        "`first`; after a digit, `between`",
        on_prompt_timeout,
    ),
    "first": Phase(
        "a digit, or the beginning of an utterance",
        "`timeout`",
        "`between`, `speech`; after the deadline, the end",
        _on_no_input,
        first_input_ms,
    ),
    "between": Phase(
        "the next digit",
        "`digitTimeout`",
        "`between`; after the last digit, the terminator or the deadline, the end",
        _on_no_further_digit,
        next_digit_ms,
    ),
    "speech": Phase(
        "the transcript of the utterance",
        "the longest utterance and 10 s",
        "the end; after a noise or the deadline, `first`",
        forget_utterance,
        transcript_ms,
    ),
}


def start(call: Call, verb: Gather, now: int) -> Step:
    """Take the digits that were typed ahead; without any, fetch the prompt.

    Without a prompt, wait for the first digit at once.
    """
    leg = verb.data.channel_id or call.main
    limit_ms = now + (int(verb.timeout * 1000) + GRACE_MS if verb.timeout else MAX_GATHER_MS)
    deadline_ms = min(now + FETCH_TIMEOUT_MS, limit_ms)
    state = Gathering(verb, leg, "fetch", deadline_ms, limit_ms, since_ms=now)
    if call.leg(leg) is None and verb.data.fallback is not None:
        return replace(call, state=Advance(verb.data.fallback, "gather")), ()
    if call.leg(leg) is None:
        return finish(call, replace(state, phase="first"), "hangup", now)
    if call.sensitive_input != verb.data.sensitive:
        call = replace(call, sensitive_input=verb.data.sensitive)
    call, commands = _start_on_leg(call, state, now)
    if is_held(call, leg) and isinstance(call.state, Gathering):
        call, _ = suspend(call, call.state, leg, now)
    return call, commands


def _start_on_leg(call: Call, state: Gathering, now: int) -> Step:
    if not (state.verb.data.type_ahead and state.verb.data.takes_digits):
        return start_prompt(drop_earlier(call, state.leg, now), state, now)
    call, typed = take(call, state.leg)
    typed = tuple(each for each in typed if _is_usable(state, each.digit))
    for index, each in enumerate(typed):
        state, reason = _add_digit(state, each.digit)
        if reason is not None:
            call, commands = finish(call, state, reason, now, each.pressed_ms)
            return put_back(call, state.leg, typed[index + 1 :]), commands
    if not typed:
        return start_prompt(call, state, now)
    return replace(call, state=wait_next_digit(state, now)), ()


def _is_usable(state: Gathering, digit: str) -> bool:
    """Return whether a gather may take a digit: sealed ones are for sensitive gathers only."""
    return is_sealed(digit) == state.verb.data.sensitive or digit in UNSEALED


def on_event(call: Call, state: Gathering, event: Event, now: int) -> Step:
    """React to a digit, to speech, to the prompt, or to a clock."""
    match event:
        case DigitPressed(leg) if leg == state.leg and _takes_digits(state):
            return _on_digit(call, state, event, now)
        case DigitStarted(leg, pressed_ms) if leg == state.leg and _takes_digits(state):
            return wait_key_up(call, state, pressed_ms), ()
        case MediaFetched(request) if request == state.request and state.phase == "fetch":
            return on_prompt_fetched(call, state, event, now)
        case PlaybackEnded(playback) if playback == state.request and state.phase == "prompt":
            return on_prompt_ended(call, state, event, now)
        case LegEnded(leg) if leg == state.leg:
            return finish(call, state, "hangup", now)
        case DeadlinePassed():
            return _on_deadline(call, state, now)
        case Recovered() if not state.suspended:
            return _on_recovered(call, state, event, now)
        case (
            SpeechUnderstood()
            | StreamSpeechChanged()
            | StreamInterrupted()
            | StreamConnected()
            | StreamEnded()
        ):
            return on_speech_event(call, state, event, now)
        case _:
            return call, ()


def _takes_digits(state: Gathering) -> bool:
    return state.verb.data.takes_digits and not state.suspended


def _on_recovered(call: Call, state: Gathering, event: Recovered, now: int) -> Step:
    # The end of a sound may have been missed, as no engine was there.
    state, commands = continue_prompt(state, now)
    if commands:
        call = replace(call, state=state)
    if holds_prompt(state) and not state.utterances:
        return play_prompt(call, state, now)
    if is_restarted(state, event):  # a prompt that had not begun, and is repeated, begins now
        return replace(call, state=enter_prompt(begin_prompt(state, now))), commands
    return _restart_phase_clock(call, state, now), commands


def _restart_phase_clock(call: Call, state: Gathering, now: int) -> Call:
    """Restart the phase's clock after an outage, which is no silence of the caller."""
    timeout_ms = PHASES[state.phase].timeout_ms
    if timeout_ms is not None:
        deadline_ms = max(state.deadline_ms, now + timeout_ms(state))
        return replace(call, state=enter_phase(state, state.phase, deadline_ms))
    if not state.ends_ms or state.paused_ms:
        return call
    deadline_ms = min(latest_end_ms(state, now) + PLAYBACK_GRACE_MS, state.limit_ms)
    return replace(call, state=replace(state, deadline_ms=deadline_ms))


def on_spare_terminator(call: Call, now: int) -> Step:
    """End a gather that only waited for this key, which is not one of its digits."""
    if isinstance(call.state, Gathering) and call.state.awaits_key_up:
        return _on_deadline(call, call.state, now)
    return call, ()


def suspend(call: Call, state: Gathering, _leg: str, now: int) -> Step:
    """Put the leg on hold: the prompt and the clocks stop, digits and speech are ignored."""
    state = replace(unpaused(state, now), suspended_ms=now)
    if has_prompt_failed(state):  # its deadline decides
        return replace(call, state=replace(state, suspended=True)), ()
    if holds_prompt(state):
        state = replace(state, suspended=True, phase="prompt", deadline_ms=call.must_end_ms)
        return replace(call, state=state), ()
    if state.phase == "prompt":
        call, state, stops = suspend_prompt(call, state, now)
        return replace(call, state=state), stops
    phase = "first" if state.phase == "speech" else state.phase
    state = replace(state, suspended=True, phase=phase, deadline_ms=call.must_end_ms)
    return replace(call, state=state), ()


def resume(call: Call, state: Gathering, _leg: str, now: int) -> Step:
    """Continue after a hold: the prompt from where it stopped, a clock from its start."""
    if has_prompt_failed(state):
        return replace(call, state=replace(state, suspended=False)), ()
    limit_ms = state.limit_ms + now - state.suspended_ms
    # A mute suspends and resumes at the same time: earlier digits that AMI reports later count.
    since_ms = now if now > state.suspended_ms else state.since_ms
    state = replace(state, suspended=False, limit_ms=limit_ms, deadline_ms=now, since_ms=since_ms)
    if state.phase == "first":
        return wait_first_input(call, state, now), ()
    if state.phase != "prompt":
        return _restart_phase_clock(call, state, now), ()
    if state.played_ms >= length_ms(state.clips):
        return wait_first_input(call, state, now), ()
    return play_prompt(call, state, now)


def _on_digit(call: Call, state: Gathering, pressed: DigitPressed, now: int) -> Step:
    leg = call.leg(state.leg)
    if leg is not None and is_of_earlier_state(leg, pressed):
        return call, ()
    if pressed.missed and pressed.pressed_ms > state.limit_ms - GRACE_MS:
        return finish(call, state, "timeout", now)
    if is_after_timeout(state, pressed):
        return _on_phase_timeout(call, state, now)
    stops = stop_sound(state)
    state, reason = _add_digit(state, pressed.digit)
    if reason is not None:
        return finish(call, state, reason, now, pressed.pressed_ms)
    return replace(call, state=wait_next_digit(state, now)), stops


def _add_digit(state: Gathering, digit: str) -> tuple[Gathering, GatherReason | None]:
    """Return the state with a digit, and the reason if it ends the gather."""
    data = state.verb.data
    if digit == data.terminator:
        return state, "terminator"
    state = replace(state, digits=state.digits + digit)
    return state, "max-digits" if count_keys(state.digits) >= data.max_digits else None


def _on_deadline(call: Call, state: Gathering, now: int) -> Step:
    if now >= state.limit_ms:
        return finish(call, state, "timeout", now)
    return _on_phase_timeout(call, state, now)


def _on_phase_timeout(call: Call, state: Gathering, now: int) -> Step:
    if state.paused_ms and state.phase == "prompt" and not state.awaits_key_up:
        state, commands = continue_prompt(state, now)
        return replace(call, state=state), commands
    return PHASES[state.phase].on_timeout(call, state, now)
