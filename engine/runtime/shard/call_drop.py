"""Ends a call that cannot go on because of an error, and stores its end."""

import structlog
from msgspec.structs import replace

from engine.calls.media.plan import required_bridges
from engine.calls.model import causes
from engine.calls.model.call import Call
from engine.calls.model.call_states import Ended, Ending
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.control_requests import CallTooLarge
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import CommandState, mark_committed
from engine.runtime.shard.step_runner import StepRunner
from engine.store.errors import Overflow

log = structlog.get_logger()
_REASONS: dict[type[Exception], str] = {
    Overflow: "store_overflow",
    CallTooLarge: "call_too_large",
}


def drop_call(
    live_call: LiveCall,
    activity: str,
    error: Exception,
    context: ShardContext,
    step_runner: StepRunner,
) -> None:
    """Log the error, store the end of the call, and remove what it has on the PBX."""
    call = live_call.call
    log.error("call dropped", call_id=call.id, activity=activity, exc_info=error)
    _store_end(live_call, error, step_runner)
    live_call.call = replace(call, state=Ended())  # later events change nothing
    live_call.retire()
    mark_committed(live_call.outbox.find(CommandState.UNCOMMITTED))  # and execute none of them
    for leg in call.legs:
        context.hang_up_channel(leg.id, causes.TEMPORARY_FAILURE)
    try:
        _remove_media(call, context)
    except Exception:
        log.exception("media of a dropped call left to the reaper", call_id=call.id)


def _remove_media(call: Call, context: ShardContext) -> None:
    """Remove streams, snoops and bridges; else a bot talks until the reaper finds its stream."""
    for stream in call.streams:
        context.hang_up_channel(stream.id)
        if stream.is_forking:
            context.hang_up_channel(stream.snoop)
    for member in call.conference.members if call.conference else ():
        if member.is_snooping:
            context.hang_up_channel(member.snoop)
    for bridge in sorted(required_bridges(call)):
        context.destroy_bridge(bridge)


def _store_end(live_call: LiveCall, error: Exception, step_runner: StepRunner) -> None:
    """Store the end: without it the call would be billed until the reaper finds it."""
    reason = _REASONS.get(type(error), "internal")
    call = live_call.call
    if call.is_ended or not live_call.log_lines:
        return  # its end is stored, or not even its start
    # The part of the call that caused the error may be unreadable, so try without it, too.
    bare = replace(call, state=Ending(0), transfers=(), conferences=(), recordings=())
    for each in (call, bare):
        live_call.call = each
        try:
            step_runner.drop(live_call, reason)
        except Exception:
            log.exception("end of a dropped call not stored", call_id=call.id)
        else:
            return
