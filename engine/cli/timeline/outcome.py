"""How a call ended: in one sentence, and as an exit status for scripts."""

from rich.markup import escape

from engine.cli.timeline import wording
from wire.views import CallView

EXIT_STATUSES = {"completed": 0, "failed": 1, "busy": 3, "no-answer": 4, "canceled": 5}
_BY = {
    "api": "ended over the API",
    "caller": "the caller hung up",
    "callee": "the called party hung up",
    "action": "its actions were at an end",
    "system": "the engine ended it",
}


def outcome_text(call: CallView) -> str:
    """Tell the end of a call, as rich markup."""
    colour = "green" if call.status == "completed" else "red"
    said = [call.status]
    if call.answered_ms:
        said.append(f"{wording.seconds(call.ended_ms - call.answered_ms)} after the answer")
    if call.reason.startswith("action_failed"):
        said.append("it was not told what to do next")
    elif call.answered_ms or call.ended_by in {"api", "system"}:
        said.append(_BY.get(call.ended_by, f"by {call.ended_by}"))
    said.append(wording.cause(call.hangup_cause))
    if call.reason:
        said.append(f"reason: {call.reason}")
    return f"[bold {colour}]{escape(said[0])}[/]: {escape(', '.join(said[1:]))}"
