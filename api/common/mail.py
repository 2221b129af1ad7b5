"""E-mail by somebody's SMTP server."""

import asyncio
from email.message import EmailMessage
from typing import Literal

import aiosmtplib
from msgspec import Struct

RESPONSE_TIMEOUT_S = 30  # for each answer
TOTAL_TIMEOUT_S = 120.0  # for all of them: other jobs wait meanwhile
PERMANENT_ERROR = 500  # and above: for good (RFC 5321, section 4.2.1)
Security = Literal["starttls", "tls", "none"]


class MailRejected(Exception):
    """The server does not take it, and would not later either."""


class MailUnavailable(Exception):
    """The server is away or busy."""


class MailServer(Struct, frozen=True):
    """A server, who may use it, and from whom letters are."""

    host: str
    port: int
    security: Security
    user: str
    password: str
    sender: str
    max_bytes: int
    total_timeout_s: float = TOTAL_TIMEOUT_S

    async def send(self, letter: EmailMessage) -> None:
        """Hand a letter over; raises MailRefused or MailNotNow."""
        try:
            async with asyncio.timeout(self.total_timeout_s):
                await self._deliver(letter)
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

    async def _deliver(self, letter: EmailMessage) -> None:
        await aiosmtplib.send(
            letter,
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
