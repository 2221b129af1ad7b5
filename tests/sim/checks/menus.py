"""Each digit reaches exactly the gather that it belongs to, or is dropped as documented.

The check follows the digits of a call's main leg through the states of the call; it does not use
what the call stores about them.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine.calls.model.call import Call, is_held
from engine.calls.model.call_states import (
    AwaitingInstructions,
    Bridged,
    Detecting,
    Dialing,
    Gathering,
    Pausing,
    Playing,
    RecordingVoicemail,
    Streaming,
)
from engine.calls.model.commands import EmitEvent
from engine.calls.model.events import DigitPressed, LegAnswered
from engine.calls.replay_audit import ReplayStep
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.events.call_events import CallEvent

GRACE_MS = 120
SPARE_MS = 3_000
MAX_KEY_DOWN_MS = 10_000
AMI_MS = 30  # until AMI has reported a key-down
MAX_DIGITS = 64
TYPING_STATES = (Playing, Pausing, AwaitingInstructions, Detecting)


class Digit(NamedTuple):
    key: str
    down_ms: int
    up_ms: int


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every call that no fault disturbed and whose main leg is always the same."""
    digits: dict[str, list[Digit]] = {}
    for channel, key, at_ms, held_ms in world.digits:
        digits.setdefault(channel, []).append(Digit(key, at_ms - held_ms, at_ms))
    for history in histories:
        steps, main = history.steps, history.opened.main
        if not steps or world.faults.is_disturbed(steps[0].at_ms, steps[-1].at_ms):
            continue
        if all(step.call.main == main for step in steps):
            pressed = digits.get(main, [])
            yield from ((history.id, message) for message in _ignored(history, pressed))
            has_ami = world.has_ami_digits(steps[0].at_ms, steps[-1].at_ms)
            follower = _Follower(history.opened, pressed if has_ami else ())
            yield from ((history.id, message) for message in follower.run(steps))


def _ignored(history: CallHistory, digits: Sequence[Digit]) -> Iterator[str]:
    """Find digits without a step in states that accept digits."""
    stepped = {  # late ones waited for the end of a handover
        (step.event.digit, step.event.pressed_ms)
        for step in history.steps
        if isinstance(step.event, DigitPressed) and step.event.leg == history.opened.main
    }
    for digit in digits:
        if (digit.key, digit.down_ms) not in stepped:
            around = [call for begin, end, call in history.intervals if begin <= digit.up_ms <= end]
            if around and all(map(_accepts, around)):
                yield f"{digit} was ignored in {around[0].state}"


def _accepts(call: Call) -> bool:
    match call.state:
        case Gathering(verb=verb, leg=leg, suspended=suspended):
            return leg == call.main and not suspended and verb.data.takes_digits
        case RecordingVoicemail():
            return not is_held(call, call.main)
        case state:
            return isinstance(state, TYPING_STATES) and not is_held(call, call.main)


def _overlap(one: Digit, other: Digit) -> bool:
    """Return whether two keys were down at the same time."""
    return one != other and one.down_ms < other.up_ms and other.down_ms < one.up_ms


class _Follower:
    """Follows the digits of one main leg, step by step."""

    def __init__(self, opened: Call, keys: Sequence[Digit]) -> None:
        self._before = opened
        # AMI reported their key-downs. Asterisk knows one key of a channel at a time.
        self._single_keys = [each for each in keys if not any(_overlap(each, key) for key in keys)]
        self._due_ms = 0  # when the gather would have ended that waits for a key to go up
        self._from_ms = 0  # keys that went down earlier do not count
        self._typed: list[Digit] = []  # ahead of the next gather
        self._digits = ""  # of the running gather
        self._ended = ""  # why a digit ends it
        self._last_ms = 0  # key-down of the last digit that counted
        self._spare: tuple[str, int] | None = None  # a terminator, and until when it is dropped
        self._may_be_spare = False  # whether the first typed digit may be one

    def run(self, steps: Sequence[ReplayStep]) -> Iterator[str]:
        for step in steps:
            self._ended = ""
            if isinstance(step.event, DigitPressed) and step.event.leg == self._before.main:
                event = step.event
                self._press(Digit(event.digit, event.pressed_ms, step.at_ms))
            self._separate(step)
            yield from self._finish_gathers(step)
            before = self._before.state
            if isinstance(before, Gathering) and not before.awaits_key_up:
                self._due_ms = before.deadline_ms
            voicemail = _voicemail(step.call)
            if voicemail is not None and voicemail != _voicemail(self._before):
                self._typed, self._from_ms = [], step.at_ms
            self._before = step.call

    def _press(self, digit: Digit) -> None:
        if is_held(self._before, self._before.main):
            return
        spare, self._spare = self._spare, None
        if spare is not None and digit.key == spare[0] and digit.down_ms <= spare[1]:
            return
        match self._before.state:
            case Gathering() as state:
                self._gather(state, digit)
            case RecordingVoicemail(request=request, reason=reason) as state:
                is_reason = digit.key == state.verb.data.terminator and not reason
                if request and not is_reason:
                    self._type(digit)
            case state if isinstance(state, TYPING_STATES):
                self._type(digit)
            case _:
                pass

    def _gather(self, state: Gathering, digit: Digit) -> None:
        data = state.verb.data
        is_late = digit.down_ms > state.deadline_ms - GRACE_MS
        if digit.down_ms < self._from_ms or not data.takes_digits:
            return
        if is_late and state.phase in {"first", "between"}:
            self._ended = "digit-timeout" if state.phase == "between" else "timeout"
        elif digit.key == data.terminator:
            self._ended = "terminator"
        else:
            self._digits += digit.key
            self._last_ms = digit.down_ms
            self._ended = "max-digits" if len(self._digits) == data.max_digits else ""

    def _type(self, digit: Digit) -> None:
        if digit.down_ms >= self._from_ms and len(self._typed) < MAX_DIGITS:
            self._typed.append(digit)

    def _separate(self, step: ReplayStep) -> None:
        """Apply what separates the digits of two states."""
        before, after, main = self._before, step.call, step.call.main
        talked = isinstance(before.state, Dialing | Bridged | Streaming)
        is_over = talked and not isinstance(after.state, Dialing | Bridged | Streaming)
        is_resumed = is_held(before, main) and not is_held(after, main)
        is_answer = isinstance(step.event, LegAnswered) and step.event.leg == main
        if is_over:
            self._typed = []
            self._from_ms = step.at_ms
        elif is_resumed or is_answer:
            self._from_ms = step.at_ms

    def _finish_gathers(self, step: ReplayStep) -> Iterator[str]:
        running = self._before.state if isinstance(self._before.state, Gathering) else None
        for event in _gathered(step):
            if running is not None:
                yield from self._finish(running, event, step.at_ms)
                running = None
            else:
                yield from self._finish_at_once(event, step.call)
        if isinstance(step.call.state, Gathering) and running is None:
            yield from self._start(step.call.state, step.at_ms)
        self._drop_spare(step.call)

    def _finish(self, state: Gathering, event: CallEvent, at_ms: int) -> Iterator[str]:
        is_right = event.dtmf == self._digits and self._ended in {"", event.reason}
        if not is_right or (not self._ended and event.reason in {"max-digits", "terminator"}):
            yield f"gathered {event.dtmf!r} ({event.reason}), not {self._digits!r} {self._ended}"
        terminator = state.verb.data.terminator
        if event.reason == "max-digits" and terminator:
            self._spare = (terminator, self._last_ms + SPARE_MS)
        if event.reason in {"timeout", "digit-timeout"}:
            due_ms = self._due_ms if state.awaits_key_up else state.deadline_ms
            in_time = range(self._from_ms, due_ms - GRACE_MS - AMI_MS)
            down = [each for each in self._single_keys if each.down_ms in in_time]
            if state.verb.data.takes_digits and any(
                at_ms < each.up_ms < each.down_ms + MAX_KEY_DOWN_MS for each in down
            ):
                yield f"{down[-1]} was down when the gather ended"
            self._from_ms = max(self._from_ms, min(at_ms, state.deadline_ms))
        self._digits = ""

    def _finish_at_once(self, event: CallEvent, call: Call) -> Iterator[str]:
        """Finish a gather that had started with its digits typed ahead."""
        dtmf = event.dtmf or ""
        if self._may_be_spare and not self._begins_with(dtmf):
            self._typed = self._typed[1:]
        if not self._begins_with(dtmf):
            yield f"gathered {dtmf!r} ({event.reason}) of {self._typed} typed ahead"
        # Of two terminators, either the first was dropped and the second ended this gather, or the
        # first ended it and the second is for the next.
        is_unclear = self._may_be_spare and event.reason == "terminator" and not dtmf
        used = self._typed[: len(dtmf)]
        self._typed = self._typed[len(dtmf) + (event.reason == "terminator") :]
        is_max = event.reason == "max-digits"
        self._may_be_spare = is_unclear or (is_max and _may_be_spare(used, self._typed))
        leg = call.leg(call.main)
        expected = leg.spare_terminator if leg is not None else None
        if event.reason == "max-digits" and used and not self._typed and expected is not None:
            self._spare = (expected.digit, used[-1].down_ms + SPARE_MS)

    def _begins_with(self, dtmf: str) -> bool:
        return "".join(digit.key for digit in self._typed).startswith(dtmf)

    def _start(self, state: Gathering, at_ms: int) -> Iterator[str]:
        if not (state.verb.data.type_ahead and state.verb.data.takes_digits):
            self._typed, self._from_ms = [], max(self._from_ms, at_ms)
        if self._may_be_spare and len(self._typed) == len(state.digits) + 1:
            self._typed = self._typed[1:]
        self._digits = "".join(digit.key for digit in self._typed)
        if self._typed:
            self._last_ms = self._typed[-1].down_ms
        self._typed, self._may_be_spare = [], False
        if state.digits != self._digits:
            yield f"a gather starts with {state.digits!r}, not {self._digits!r}"

    def _drop_spare(self, call: Call) -> None:
        """Learn whether the first typed digit was the terminator of a gather that is over."""
        leg = call.leg(call.main)
        if self._may_be_spare and leg is not None:
            self._typed = self._typed[len(leg.typed_ahead) < len(self._typed) :]
        self._may_be_spare = False


def _may_be_spare(used: Sequence[Digit], left: Sequence[Digit]) -> bool:
    if not used or not left or left[0].key not in "#*":
        return False
    return left[0].down_ms <= used[-1].down_ms + SPARE_MS


def _voicemail(call: Call) -> tuple[str, bool] | None:
    """Return the voicemail that is recorded or was recorded just now."""
    match call.state:
        case RecordingVoicemail(recording=name, request=request):
            return name, bool(request)
        case _:
            return None


def _gathered(step: ReplayStep) -> list[CallEvent]:
    emitted = [each.event for each in step.commands if isinstance(each, EmitEvent)]
    main = step.call.main
    return [each for each in emitted if each.event == "gathered" and each.channel_id == main]
