"""Webhooks of the messaging platform: template statuses, signed.

Its documentation, "Webhooks": X-Hub-Signature-256 is the HMAC-SHA256 of the raw body with the app's
secret; at setup, the platform sends a challenge that the response repeats.
"""

import hashlib
import hmac
import re
from typing import Annotated

import msgspec
import structlog
from msgspec import Meta, Struct

from api.common.errors import NotFound, Unauthenticated
from api.messaging_platform.client import PlatformClient
from api.templates.statuses import StatusStore, StatusUpdate
from base.limit import Limit
from wire.decoding import lenient, patterns

log = structlog.get_logger()
FIELD = "message_template_status_update"
PREFIX = "sha256="
_SIGNATURE = re.compile(f"{PREFIX}[0-9a-f]{{64}}")
MAX_CHALLENGE_CHARS = 1_024
LARGE_BODIES: Annotated[
    int,
    Limit("process", "wait", "Notifications of more than 64 KB at once, one of each network."),
] = 8
# What a database can store: signed or not, the text comes from outside.
_Text = Annotated[str, Meta(pattern=r"^[^\x00]*" + patterns.END, max_length=1_024)]
_Seconds = Annotated[int, Meta(ge=0, lt=2**40)]


class _Update(Struct, frozen=True):
    event: _Text
    message_template_id: int | _Text
    message_template_name: _Text = ""
    message_template_language: _Text = ""
    reason: _Text | None = None


class PlatformNotificationChange(Struct, frozen=True):
    field: str = ""
    value: msgspec.Raw = msgspec.field(default_factory=msgspec.Raw)


class PlatformNotificationEntry(Struct, frozen=True):
    id: str
    time: _Seconds = 0
    changes: list[PlatformNotificationChange] = []


class PlatformNotification(Struct, frozen=True):
    """Changes of one or several business accounts."""

    entry: list[PlatformNotificationEntry]
    object: str = ""


class Webhook(Struct, frozen=True):
    """Verifies and processes the platform's notifications."""

    statuses: StatusStore
    client: PlatformClient

    def challenge(self, mode: str, token: str, challenge: str) -> str:
        """Return the challenge if the token is right; raises Unauthenticated or NotFound."""
        expected = self.client.settings.verify_token
        if expected is None:
            raise NotFound("no webhook of the messaging platform is set up")
        is_known = hmac.compare_digest(token.encode(), expected.get_secret_value().encode())
        if mode != "subscribe" or not is_known:
            raise Unauthenticated("the verify token is not ours", "bad_verify_token")
        return challenge[:MAX_CHALLENGE_CHARS]

    def check_header(self, signature: str) -> None:
        """Check that the header can be a signature; raises Unauthenticated or NotFound."""
        self._secret()
        if not _SIGNATURE.fullmatch(signature):
            raise _bad_signature()

    def verify_signature(self, body: bytes, signature: str) -> None:
        """Check that the platform signed the body; raises Unauthenticated or NotFound."""
        expected = PREFIX + hmac.new(self._secret(), body, hashlib.sha256).hexdigest()
        if not hmac.compare_digest(signature.encode(), expected.encode()):
            raise _bad_signature()

    def _secret(self) -> bytes:
        secret = self.client.settings.app_secret
        if secret is None:
            raise NotFound("no webhook of the messaging platform is set up")
        return secret.get_secret_value().encode()

    async def process(self, body: bytes) -> int:
        """Apply the template statuses of a notification; return how many templates changed."""
        count = 0
        for entry in lenient.decode(body, PlatformNotification).entry:
            for change in entry.changes:
                update = _status_update(change, entry.time)
                if update is not None:
                    count += await self._apply(entry.id, update)
        return count

    async def _apply(self, business_id: str, update: StatusUpdate) -> int:
        accounts = self.client.accounts_of(business_id)
        return sum([await self.statuses.apply_update(account, update) for account in accounts])


def _bad_signature() -> Unauthenticated:
    return Unauthenticated("the signature is missing or wrong", "bad_signature")


def _status_update(change: PlatformNotificationChange, at_s: int) -> StatusUpdate | None:
    """Decode a change; None if it is not a status or not valid, so that the others are applied."""
    if change.field != FIELD:
        return None
    try:
        update = msgspec.json.decode(change.value, type=_Update)
    except msgspec.DecodeError as error:
        log.warning("template status is not valid", reason=str(error))
        return None
    return StatusUpdate(
        platform_template_id=str(update.message_template_id),
        name=update.message_template_name,
        language=update.message_template_language.replace("-", "_"),  # en-US there, en_US elsewhere
        status=update.event,
        reason=update.reason,
        at_s=at_s,
    )
