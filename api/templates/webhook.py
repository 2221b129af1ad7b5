"""What the messaging platform tells by itself: a template's status, at once and signed.

Its documentation, "Webhooks": HMAC-SHA256 over the body as it came, by the app's secret, in
X-Hub-Signature-256; once, when it is set up, a challenge to be given back.
"""

import hashlib
import hmac
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from api.common.errors import NotFound, Unauthenticated
from api.http.msgspec_adapter import decode
from api.messaging_platform.client import PlatformClient
from api.templates.statuses import StatusStore, StatusUpdate
from wire import patterns

log = structlog.get_logger()
FIELD = "message_template_status_update"
PREFIX = "sha256="
MAX_CHALLENGE_CHARS = 1_024


# What a database can hold: signed or not, it comes from outside.
_Text = Annotated[str, Meta(pattern=r"^[^\x00]*" + patterns.END, max_length=1_024)]
_Seconds = Annotated[int, Meta(ge=0, lt=2**40)]


class _Update(Struct, frozen=True):
    event: _Text
    message_template_id: int | _Text
    message_template_name: _Text = ""
    message_template_language: _Text = ""
    reason: _Text | None = None


class _Change(Struct, frozen=True):
    field: str = ""
    value: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


class _Entry(Struct, frozen=True):
    id: str
    time: _Seconds = 0
    changes: list[_Change] = []


class Notice(Struct, frozen=True):
    """What is told at once, of one business account or several."""

    entry: list[_Entry]


_DECODER = msgspec.json.Decoder(Notice)


class Webhook(Struct, frozen=True):
    """Takes what the platform tells."""

    statuses: StatusStore
    client: PlatformClient

    def challenge(self, mode: str, token: str, challenge: str) -> str:
        """Give a challenge back to who knows the token; raises Unauthenticated."""
        known = self.client.settings.verify_token
        if known is None:
            raise NotFound("no webhook of the messaging platform is set up")
        given, wanted = token.encode(), known.get_secret_value().encode()
        if mode != "subscribe" or not hmac.compare_digest(given, wanted):
            raise Unauthenticated("the verify token is not ours", "bad_verify_token")
        return challenge[:MAX_CHALLENGE_CHARS]

    def check(self, body: bytes, signature: str) -> None:
        """Check who says so; raises Unauthenticated."""
        secret = self.client.settings.app_secret
        if secret is None:
            raise NotFound("no webhook of the messaging platform is set up")
        wanted = (
            PREFIX + hmac.new(secret.get_secret_value().encode(), body, hashlib.sha256).hexdigest()
        )
        if not hmac.compare_digest(signature.encode(), wanted.encode()):
            raise Unauthenticated("the signature is missing or wrong", "bad_signature")

    async def take(self, body: bytes) -> int:
        """Note what is told of templates, and count it; the rest is none of ours."""
        noted = 0
        for entry in decode(body, _DECODER).entry:
            for change in entry.changes:
                told = _told(change, entry.time)
                if told is not None:
                    noted += await self._note(entry.id, told)
        return noted

    async def _note(self, business_id: str, told: StatusUpdate) -> int:
        accounts = self.client.accounts_of(business_id)
        return sum([await self.statuses.apply_update(account, told) for account in accounts])


def _told(change: _Change, at_s: int) -> StatusUpdate | None:
    """Read one change; one that can't be read is left out, and does not hold up the others."""
    if change.field != FIELD:
        return None
    try:
        update = msgspec.json.decode(change.value, type=_Update)
    except msgspec.DecodeError as error:
        log.warning("a template's status is not understood", reason=str(error))
        return None
    return StatusUpdate(
        platform_template_id=str(update.message_template_id),
        name=update.message_template_name,
        language=update.message_template_language.replace("-", "_"),  # en-US there, en_US elsewhere
        status=update.event,
        reason=update.reason,
        at_s=at_s,
    )
