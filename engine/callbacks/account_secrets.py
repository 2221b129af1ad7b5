"""Signing secrets of accounts, derived from the platform's key."""

import base64
import hmac
from hashlib import sha256

from msgspec import Struct

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
