"""A real SMTP server on a free port, and what it was given.

async with Mailbox() as mailbox:
    …
    letter = mailbox.letters[0]
"""

import asyncio
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any, Self

from aiosmtpd.smtp import SMTP, AuthResult, Envelope, LoginPassword, Session


class Mailbox:
    """Takes letters; or answers as `refusal` says, such as `550 no such mailbox`.

    While it `hesitates`, it hears letters to their end, and neither takes nor refuses them.
    """

    def __init__(self, password: str = "") -> None:
        self.messages: list[EmailMessage] = []
        self.refusal = ""
        self.hangs = False
        self.received = 0  # letters, to their end
        self.port = 0
        self._password = password

    async def __aenter__(self) -> Self:
        """Begin to serve."""
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._protocol, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_exc: object) -> None:
        """Serve no more."""
        self._server.close()
        await self._server.wait_closed()

    # The names of these are aiosmtpd's.

    async def handle_RCPT(  # noqa: N802
        self, _server: SMTP, session: Session, envelope: Envelope, address: str, _options: Any
    ) -> str:
        """Take an addressee."""
        if self._password and not session.authenticated:
            return "530 who is there?"
        if self.refusal:
            return self.refusal
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(  # noqa: N802
        self, _server: SMTP, _session: Session, envelope: Envelope
    ) -> str:
        """Take a letter."""
        assert isinstance(envelope.content, bytes)
        self.received += 1
        if self.hangs:
            await asyncio.Event().wait()  # until the connection is gone
        letter = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(letter, EmailMessage)
        self.messages.append(letter)
        return "250 OK"

    def _protocol(self) -> SMTP:
        return SMTP(self, authenticator=self._authenticated, auth_require_tls=False)

    def _authenticated(self, *asked: Any) -> AuthResult:
        given = asked[-1]
        assert isinstance(given, LoginPassword)
        is_right = given.password.decode() == self._password
        return AuthResult(success=is_right, handled=False)  # so it is answered for us
