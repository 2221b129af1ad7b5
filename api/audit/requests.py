"""Which requests the audit trail has, and what it says about them."""

from typing import Any

from starlette.types import Scope

from api.audit.entry_rate import AuditEntry
from api.audit.trail import AuditTrail, without_secrets

AUDITED_READS = (
    "/srmain/recordings/files",
    "/srmain/audit",
    "/download",
    "/media/recordings",
    "/srmain/dnc/",  # changes the list: a link in a mail is a GET
)
UNAUDITED = (
    "POST /srmain/voice/listeners/{id}/responses/{request}",  # one for each webhook
    "PUT /console/session",  # by each page that stays open
)
DENIED = frozenset({401, 403, 429})


class RequestAudit:
    """Adds requests to the audit trail; implements what `RequestMiddleware` needs."""

    def __init__(self, trail: AuditTrail) -> None:
        self._trail = trail

    def add(self, scope: Scope, route: str, status: int, request_id: str) -> None:
        """Add a request of a known account that changes, reads or may not see something.

        Its object is the call that its body names, else its path, without a token.
        """
        state: dict[str, Any] = scope.get("state", {})
        account_id = state.get("account_id")
        is_read = scope["method"] in {"GET", "HEAD"}
        action = f"{scope['method']} {route}"
        is_relevant = (
            (not is_read and action not in UNAUDITED)
            or status in DENIED
            or any(each in route for each in AUDITED_READS)
        )
        if account_id is None or not is_relevant:
            return  # a stranger's failures are in the log only: they must not fill the database
        self._trail.add(
            AuditEntry(
                account_id,
                self._trail.now_ms(),
                state.get("actor") or f"key:{state.get('key_id', '')}",
                action[:128],
                state.get("call_id") or without_secrets(scope["path"]),
                str(status),
                state.get("agent_id"),
                (scope.get("client") or ("",))[0],
                request_id,
            )
        )
