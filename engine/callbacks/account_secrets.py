"""Signing secrets of accounts: derived from the platform's key, or random without one."""

import base64
import hmac
from collections.abc import Callable
from hashlib import sha256

from msgspec import Struct

SECRET_BYTES = 32
_PURPOSE = b"switchroom webhook secret"  # other uses of the key get other values


class AccountSecrets(Struct, frozen=True):
    """Creates the secrets; an account's first has number 0, and each rotation the next number.

    Derived secrets are the same after Redis has lost its data. A customer who knows some of them
    can compute neither the key nor another one.
    """

    key: bytes | None
    random_bytes: Callable[[int], bytes]

    def create(self, account: str, number: int) -> str:
        """Create the secret of an account with this number."""
        return "whsec_" + base64.b64encode(self._secret(account, number)).decode()

    def _secret(self, account: str, number: int) -> bytes:
        if self.key is None:
            return self.random_bytes(SECRET_BYTES)
        message = b"\0".join((_PURPOSE, account.encode(), str(number).encode()))
        return hmac.digest(self.key, message, sha256)
