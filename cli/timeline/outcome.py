"""How a call ended: as a sentence, and as an exit status for scripts."""

from rich.markup import escape

from base.exit_status import ExitStatus
from base.timeline import wording
from wire.views import CallView

EXIT_STATUSES = {
    "completed": ExitStatus.DONE,
    "failed": ExitStatus.NEGATIVE,
    "busy": ExitStatus.BUSY,
    "no-answer": ExitStatus.NO_ANSWER,
    "canceled": ExitStatus.CANCELED,
}
ENDED_BY = {
    "api": "ended by the API",
    "caller": "the caller hung up",
    "callee": "the called party hung up",
    "action": "no actions left",
    "system": "the engine ended it",
}


def outcome_text(call: CallView) -> str:
    """Describe the end of a call, as rich markup."""
    colour = "green" if call.status == "completed" else "red"
    parts = [call.status]
    if call.answered_ms:
        parts.append(f"{wording.seconds(call.ended_ms - call.answered_ms)} after answer")
    if call.reason.startswith("action_failed"):
        parts.append("no next action")
    elif call.answered_ms or call.ended_by in {"api", "system"}:
        parts.append(ENDED_BY.get(call.ended_by, f"by {call.ended_by}"))
    parts.append(wording.cause(call.hangup_cause))
    if call.reason:
        is_not_dialed = call.ended_by == "system" and not call.answered_ms
        reason = wording.dial_rejection(call.reason) if is_not_dialed else call.reason
        parts.append(f"reason: {reason}")
    return f"[bold {colour}]{escape(parts[0])}[/]: {escape(', '.join(parts[1:]))}"
