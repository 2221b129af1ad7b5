"""Builders of attempts for the tests of the log."""

from typing import Any

from engine.webhooks.log.exchange import Exchange, Received, Sent, Subject, exchange

CALL = "3-pbx1-aaaaaaaa"
EVENT_ID = f"{CALL}.e1"


class Reply:
    """The head of a response."""

    def __init__(self, status: int, **headers: str) -> None:
        self.status = status
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def attempt(  # noqa: PLR0913 - a test names only what it varies
    body: bytes = b"{}",
    response: bytes = b"",
    *,
    reply: Reply | None = None,
    reason: str = "",
    headers: dict[str, str] | None = None,
    detail: str = "",
    **subject: Any,
) -> Exchange:
    """Return an attempt of a callback, with a response if there is one."""
    received = Received()
    if reply is not None:
        received.begin(reply)
    received.body += response
    sent = Sent("POST", "https://a.example/", headers or {}, body)
    about = Subject("acme", "callback", EVENT_ID, **subject)
    return exchange(about, 1, 1_795_262_400_000, 12, sent, received, reason, detail)
