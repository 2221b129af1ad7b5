"""Which requests the audit trail has, and what it says about them."""

from collections.abc import Iterator
from typing import Any

import pytest

from api.audit.trail import AuditEntry, AuditTrail, RequestAudit

CALL = "/srmain/voice/call"
KEY = {"account_id": "acme", "key_id": "1"}


class Added(AuditTrail):
    """A trail that keeps what is added."""

    def __init__(self) -> None:
        self.now_ms = lambda: 7
        self.entries: list[AuditEntry] = []

    def add(self, entry: AuditEntry) -> None:
        self.entries.append(entry)


def audited(
    method: str, route: str, status: int = 200, state: dict[str, Any] = KEY, **more: Any
) -> Iterator[AuditEntry]:
    """Yield the entries of a request."""
    trail = Added()
    scope = {"method": method, "path": route, "state": state, **more}
    RequestAudit(trail).add(scope, route, status, "r1")
    yield from trail.entries


@pytest.mark.parametrize(
    ("method", "route", "status", "is_audited"),
    [
        ("POST", CALL, 201, True),
        ("DELETE", CALL, 500, True),
        ("GET", CALL, 200, False),
        ("HEAD", CALL, 404, False),
        ("GET", CALL, 401, True),
        ("GET", CALL, 403, True),
        ("GET", CALL, 429, True),
        ("GET", "/srmain/recordings/files/{path}", 200, True),
        ("GET", "/srmain/cdr/exports/{id}/download", 200, True),
        ("GET", "/srmain/dnc/subscribe/{token}", 201, True),
        ("POST", "/srmain/voice/listeners/{id}/responses/{request}", 200, False),
        ("POST", "/srmain/voice/listeners/{id}/responses/{request}", 403, True),
        ("PUT", "/console/session", 200, False),
        ("POST", "/console/session", 200, True),
    ],
)
def test_which_requests_are_audited(
    method: str, route: str, status: int, *, is_audited: bool
) -> None:
    """Those that change something, or read what is sensitive, and those that are denied."""
    assert len(list(audited(method, route, status))) == is_audited
    assert not list(audited(method, route, status, {}))


def test_what_the_trail_says() -> None:
    """Its object is the call of the body, or else the path without a secret."""
    state = {**KEY, "agent_id": "1001", "call_id": "0-pbx1-call00000001"}
    (entry,) = audited("POST", CALL, 201, state, client=("192.0.2.1", 5))
    action, call = f"POST {CALL}", state["call_id"]
    assert entry == AuditEntry(
        "acme", 7, "key:1", action, call, "201", "1001", "192.0.2.1", request_id="r1"
    )
    secret = f"swd_0123456789ab_{'t' * 43}"
    (entry,) = audited("POST", f"/x/{secret}", 201, {**KEY, "actor": "dnc-token:9"})
    assert (entry.actor, entry.object) == ("dnc-token:9", "/x/swd_0123456789ab_…")
    assert (entry.agent_id, entry.address) == (None, "")
