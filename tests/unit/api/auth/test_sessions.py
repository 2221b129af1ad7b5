"""Sessions of the console, in signed cookies."""

import pytest
from fastapi import Request, Response

from api.auth.sessions import SESSION_S, ConsoleSessions, Session, cookie_name

SECRETS = ("a" * 40, "b" * 40)


def _request(cookie: str = "") -> Request:
    headers = [(b"cookie", cookie.encode()), (b"host", b"localhost:8000")]
    scope = {"type": "http", "scheme": "http", "server": ("localhost", 8000), "path": "/"}
    return Request({**scope, "query_string": b"", "headers": headers})


def _read_back(sessions: ConsoleSessions, session: Session) -> Session | None:
    response = Response()
    sessions.write(session, _request(), response)
    return sessions.read(_request(response.headers["set-cookie"].partition(";")[0]))


@pytest.mark.parametrize("agent_id", [None, "1001"])
def test_a_session_is_read_as_it_was_written(agent_id: str | None) -> None:
    """An agent's is one of the agent, not of the account."""
    now_ms = [1_700_000_000_000]
    sessions = ConsoleSessions(SECRETS, lambda: now_ms[0])
    session = sessions.start("key1", agent_id)
    assert session.agent_id == agent_id
    assert _read_back(sessions, session) == session
    now_ms[0] += SESSION_S * 1_000
    assert _read_back(sessions, session) is None


def test_a_session_of_another_secret() -> None:
    """An earlier one counts, a strange one does not."""
    now_ms = 1_700_000_000_000
    response, request = Response(), _request()
    old = ConsoleSessions(SECRETS[1:], lambda: now_ms)
    session = old.start("key1", None)
    old.write(session, request, response)
    cookie = response.headers["set-cookie"].partition(";")[0]
    assert cookie.startswith(cookie_name(request))
    ConsoleSessions(SECRETS, lambda: now_ms).write(session, request, response)
    new = response.headers.getlist("set-cookie")[-1].partition(";")[0]
    assert ConsoleSessions(SECRETS[:1], lambda: now_ms).read(_request(new)) == session
    assert ConsoleSessions(SECRETS, lambda: now_ms).read(_request(cookie)) == session
    assert ConsoleSessions(("c" * 40,), lambda: now_ms).read(_request(cookie)) is None
    assert ConsoleSessions(SECRETS, lambda: now_ms).read(_request()) is None
