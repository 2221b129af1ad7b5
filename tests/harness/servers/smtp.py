"""An SMTP server on a free port that keeps what it receives.

async with Mailbox() as mailbox:
    …
    message = mailbox.messages[0]
"""

import asyncio
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Self

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class Mailbox:
    """Accepts messages, or answers with `refusal`, such as `550 no such mailbox`.

    While it `hangs`, it reads messages to their end and does not answer.
    """

    def __init__(self, password: str = "") -> None:
        self.messages: list[EmailMessage] = []
        self.refusal = ""
        self.hangs = False
        self.received = 0  # messages that were read to their end
        self.port = 0
        self._password = password

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        self._server.close()
        await self._server.wait_closed()

    async def handle_RCPT(  # noqa: N802 - aiosmtpd calls it by this name
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        """Accept a recipient."""
        if self._password and not session.authenticated:
            return "530 authentication required"
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802 - aiosmtpd calls it by this name
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Accept a message."""
        assert isinstance(envelope.content, bytes)
        self.received += 1
        if self.hangs:
            await asyncio.Event().wait()  # until the connection is closed
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append(message)
        return "250 OK"

    def _protocol(self) -> SMTP:
        return SMTP(self, authenticator=self._authenticated, auth_require_tls=False)

    def _authenticated(self, *arguments: Any) -> AuthResult:
        login = arguments[-1]
        assert isinstance(login, LoginPassword)
        is_valid = login.password.decode() == self._password
        return AuthResult(success=is_valid, handled=False)  # aiosmtpd then sends the answer
