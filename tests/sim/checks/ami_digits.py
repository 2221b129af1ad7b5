"""With AMI, every gather gets each digit that was pressed, once, whatever fails.

Without AMI, digits of an outage can be missing, but no digit counts twice.
"""

from collections.abc import Iterator, Sequence

from tests.harness.sim.model import SimChannel
from tests.sim.call_histories import CallHistory
from tests.sim.checks.digits import GRACE_MS, Gather, gathers
from tests.sim.world_view import WorldView

MARGIN_MS = 100  # around the begin and the end of a gather
LATE_MS = 1_600  # the same where events are late
Presses = Sequence[tuple[str, float, float]]  # digit, down, up


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every gather, also those during faults."""
    channels = {**world.pbx.past, **world.pbx.channels}
    for history in histories:
        if history.record.call.reason == "lost":
            continue  # its node was given up, with its recent digits
        for gather in gathers(history):
            channel = channels.get(gather.first.leg)
            if channel is not None:
                yield from (
                    (history.id, message) for message in _violations(world, gather, channel)
                )


def _violations(world: WorldView, gather: Gather, channel: SimChannel) -> Iterator[str]:
    dtmf = gather.event.dtmf or ""
    if gather.event.reason == "terminator":
        dtmf += gather.first.verb.data.terminator
    pressed = "".join(digit for digit, _, _ in channel.presses)
    if not _within(dtmf, pressed):
        yield f"gathered {dtmf!r} where {pressed!r} was pressed"
    elif not _is_whole(world, gather, channel.presses, dtmf) and world.has_ami_digits(
        gather.begin_ms, gather.end_ms
    ):
        yield f"gathered {dtmf!r} ({gather.event.reason}) of {_shown(gather, channel.presses)}"


def _within(dtmf: str, pressed: str) -> bool:
    left = iter(pressed)
    return all(digit in left for digit in dtmf)


def _is_whole(world: WorldView, gather: Gather, presses: Presses, dtmf: str) -> bool:
    """Return whether adjacent digits were gathered and none that surely belongs is missing."""
    margin_ms = LATE_MS if "late" in world.faults.kinds else MARGIN_MS
    begin_ms, end_ms = gather.begin_ms + margin_ms, gather.end_ms - margin_ms
    limit_ms = gather.last.limit_ms - GRACE_MS - margin_ms
    sure = [
        place
        for place, (_, down, up) in enumerate(presses)
        if begin_ms < up < end_ms and down < limit_ms
    ]
    is_full = gather.event.reason in {"max-digits", "terminator"}
    for first in range(len(presses) + 1):
        held_up = presses[:first] if "late" in world.faults.kinds else ()
        for typed_ahead in range(_ahead(dtmf, held_up, gather.begin_ms) + 1):
            past = first + len(dtmf) - typed_ahead
            run = "".join(digit for digit, _, _ in presses[first:past])
            is_late = bool(sure) and (sure[0] < first or (sure[-1] >= past and not is_full))
            if run == dtmf[typed_ahead:] and not is_late:
                return True
    return False


def _ahead(dtmf: str, presses: Presses, begin_ms: float) -> int:
    """Count the first gathered digits that can be older: their events arrived too late."""
    if any(up >= begin_ms for _, _, up in presses):
        return 0
    pressed = "".join(digit for digit, _, _ in presses)
    return next(n for n in range(len(dtmf), -1, -1) if _within(dtmf[:n], pressed))


def _shown(gather: Gather, presses: Presses) -> str:
    near = [
        f"{digit}@{up - gather.begin_ms:.0f}" for digit, _, up in presses if up > gather.begin_ms
    ]
    return f"{' '.join(near)} in {gather.end_ms - gather.begin_ms:.0f} ms"
