"""Sends e-mail through an SMTP server."""

import asyncio
from email.message import EmailMessage
from typing import Literal

import aiosmtplib
from msgspec import Struct

RESPONSE_TIMEOUT_S = 30  # for each response
TOTAL_TIMEOUT_S = 120.0  # for the whole dialogue: other jobs wait meanwhile
PERMANENT_ERROR = 500  # and above: permanent (RFC 5321, section 4.2.1)
Security = Literal["starttls", "tls", "none"]


class MailRejected(Exception):
    """The server rejects the message permanently."""


class MailUnavailable(Exception):
    """The server cannot be reached or is busy."""


class MailServer(Struct, frozen=True):
    """A server with credentials, and the sender of its messages."""

    host: str
    port: int
    security: Security
    user: str
    password: str
    sender: str
    max_bytes: int
    total_timeout_s: float = TOTAL_TIMEOUT_S

    async def send(self, message: EmailMessage) -> None:
        """Send a message; raises MailRejected or MailUnavailable."""
        try:
            async with asyncio.timeout(self.total_timeout_s):
                await self._deliver(message)
        except aiosmtplib.SMTPAuthenticationError:
            raise MailRejected("the mail server does not let us in") from None
        except aiosmtplib.SMTPRecipientsRefused as error:
            first = error.recipients[0]
            raise _fault(first.code, first.message) from None
        except aiosmtplib.SMTPResponseException as error:
            raise _fault(error.code, error.message) from None
        except TimeoutError:
            raise MailUnavailable("the mail server is too slow") from None
        except (aiosmtplib.SMTPException, OSError):
            raise MailUnavailable("the mail server can't be reached") from None

    async def _deliver(self, message: EmailMessage) -> None:
        await aiosmtplib.send(
            message,
            hostname=self.host,
            port=self.port,
            username=self.user or None,
            password=self.password or None,
            use_tls=self.security == "tls",
            start_tls=self.security == "starttls",
            timeout=RESPONSE_TIMEOUT_S,
        )


def _fault(code: int, text: str) -> Exception:
    kind = MailRejected if code >= PERMANENT_ERROR else MailUnavailable
    return kind(f"the mail server answered {code} {text}")
