"""Changes of an account's callback settings, and its signing secrets.

Both are functions: of the settings before, and of the platform's key.
"""

import base64
import hmac
from collections.abc import Callable
from hashlib import sha256

from msgspec import Struct
from msgspec.structs import replace

from wire.callbacks.account import PutCallback
from wire.callbacks.settings import CallbackSettings

ROTATION_OVERLAP_MS = 86_400_000  # a rotated secret signs for another day
_PURPOSE = b"switchroom webhook secret"  # other uses of the key get other values


class AccountSecrets(Struct, frozen=True):
    """Creates the secrets; an account's first has number 0, and each rotation the next number.

    They are the same after Redis has lost its data. A customer who knows some of them can compute
    neither the key nor another one.
    """

    key: bytes

    def create(self, account: str, number: int) -> str:
        """Create the secret of an account with this number."""
        message = b"\0".join((_PURPOSE, account.encode(), str(number).encode()))
        return "whsec_" + base64.b64encode(hmac.digest(self.key, message, sha256)).decode()


class SettingsChanges(Struct, frozen=True):
    secrets: AccountSecrets
    now_ms: Callable[[], int]

    def initial(self, account: str) -> CallbackSettings:
        """Return the settings of an account that has none."""
        return CallbackSettings(self.secrets.create(account, 0), self.now_ms())

    def put(
        self, account: str, before: CallbackSettings | None, request: PutCallback
    ) -> CallbackSettings:
        """Change target and limits; the first secret is created."""
        before = before or self.initial(account)
        return replace(
            before,
            target=request.target,
            concurrency=request.concurrency,
            per_s=request.per_s,
            put_ms=max(self.now_ms(), before.put_ms + 1),
            is_secret_unseen=False,
        )

    def rotate(self, account: str, before: CallbackSettings | None) -> CallbackSettings:
        """Create a new secret; the previous one, if there is one, signs for another day."""
        if before is None:
            return self.initial(account)
        return replace(
            self._renew(account, before),
            previous=before.secret,
            previous_until_ms=self.now_ms() + ROTATION_OVERLAP_MS,
        )

    def remove(self, account: str, before: CallbackSettings) -> CallbackSettings:
        """Remove everything but the number of the next secret: no deleted secret signs again."""
        renewed = self._renew(account, before)
        return CallbackSettings(
            renewed.secret,
            renewed.made_ms,
            secret_number=renewed.secret_number,
            is_secret_unseen=True,
        )

    def _renew(self, account: str, before: CallbackSettings) -> CallbackSettings:
        number = before.secret_number + 1
        return replace(
            before,
            secret=self.secrets.create(account, number),
            made_ms=self.now_ms(),
            secret_number=number,
            is_secret_unseen=False,
        )
