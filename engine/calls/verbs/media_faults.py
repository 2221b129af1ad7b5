"""Reports audio that cannot be played, and chooses what runs instead of its verb."""

from collections.abc import Sequence
from typing import Literal

from msgspec.structs import replace

from engine.calls.model.call import Call, CallMediaFault, Step
from engine.calls.model.call_states import Advance
from engine.calls.model.commands import EmitEvent
from engine.calls.model.continuation import Frame
from engine.calls.model.io_results import MediaFetched
from engine.calls.reporting.call_events import emit
from wire.media import MediaFault, describe_source
from wire.verbs import PromptVerb

# `timeout`: it was not fetched in time; `not_played`: the PBX could not play it; `unavailable`: the
# fetch returned nothing; `cut_off`: the PBX did not end it in time.
FaultReason = Literal["timeout", "not_played", "unavailable", "cut_off"]


def fetch_faults(event: MediaFetched, verb: PromptVerb) -> tuple[MediaFault, ...]:
    """Return the faults of a fetch; one that got nothing is that of the verb's first source."""
    if event.clips or event.failed:
        return event.failed
    return playback_fault(verb, "unavailable")


def playback_fault(verb: PromptVerb, reason: FaultReason) -> tuple[MediaFault, ...]:
    """Return the fault of a verb's audio, by its first source."""
    return tuple(MediaFault(describe_source(each), reason) for each in verb.data.sources[:1])


def report(call: Call, leg: str, faults: Sequence[MediaFault], now: int) -> Step:
    """Emit an event for each fault, and keep the last one for the next webhook request."""
    call, commands = emit_faults(call, leg, faults, now)
    if not faults:
        return call, commands
    first, last = call.first_media_fault, faults[-1]
    fault = CallMediaFault(last.source, last.reason, None if first == last else first)
    return replace(call, media_fault=fault), commands


def emit_faults(
    call: Call, leg: str, faults: Sequence[MediaFault], now: int
) -> tuple[Call, tuple[EmitEvent, ...]]:
    """Emit an event for each fault, and keep the first one for the call's record."""
    if faults and call.media_fault is None:
        first = CallMediaFault(faults[0].source, faults[0].reason, is_reported=True)
        call = replace(call, media_fault=first)
    commands: list[EmitEvent] = []
    for fault in faults:
        call, emitted = emit(
            call, "media-failed", now, channel_id=leg, source=fault.source, reason=fault.reason
        )
        commands.append(emitted)
    return call, tuple(commands)


def take_fault(call: Call) -> tuple[Call, MediaFault | None]:
    """Return the fault that the next webhook request reports; later ones do not report it."""
    fault = call.media_fault
    if fault is None or fault.is_reported:
        return call, None
    call = replace(call, media_fault=replace(fault, is_reported=True))
    return call, MediaFault(fault.source, fault.reason)


def run_instead(call: Call, verb: PromptVerb) -> Advance | None:
    """Return what runs instead of a verb whose audio failed; None: the verb continues."""
    if verb.on_error is not None:
        return Advance(verb.on_error, verb.tag)
    top = call.continuation[0] if call.continuation else None
    if isinstance(top, Frame) and top.exit("onError") is not None:
        return Advance(None, verb.tag, is_media_failed=True)
    return None
