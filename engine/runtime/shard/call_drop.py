"""Ends a call that cannot go on because of an error, and stores its end."""

import structlog
from msgspec.structs import replace

from engine.calls.model import causes
from engine.calls.model.call_states import Ended, Ending
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.errors import CallTooLarge
from engine.runtime.shard.live_call import LiveCall
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
    """Log the error, store the end of the call, and hang up its legs."""
    call = live_call.call
    log.error("call dropped", call_id=call.id, activity=activity, exc_info=error)
    _store_end(live_call, error, step_runner)
    live_call.call = replace(call, state=Ended())  # later events change nothing
    live_call.retire()
    live_call.uncommitted = ()
    for leg in call.legs:
        context.hang_up_channel(leg.id, causes.TEMPORARY_FAILURE)


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
