"""Encrypts the digits of sensitive gathers with a key that the store does not have.

All engines derive the key from their RPC token, so that the engine that takes a call over can read
its digits. A sealed digit is bound to its call (AES-GCM).
"""

import re
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Callable, Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec.json import decode, encode
from msgspec.structs import replace

from engine.calls.model.sealed_digits import MARK, TOKEN_BYTES, TOKEN_LENGTH
from wire.webhooks import GatherResult

NONCE_BYTES = 12
_PADDING = "=" * (-(TOKEN_LENGTH - 1) % 4)
_TOKEN = re.compile(f"{re.escape(MARK)}([A-Za-z0-9_-]{{{TOKEN_LENGTH - 1}}})")


class UnreadableDigits(Exception):
    """Digits were sealed with a key that this engine does not have, or for another call."""


class DigitSealer:
    """Seals digits with the key of the first secret; opens those of all."""

    def __init__(self, secrets: Sequence[str], random: Callable[[int], bytes]) -> None:
        self._ciphers = [AESGCM(_derive_key(each)) for each in secrets]
        self._random = random

    def seal(self, call_id: str, digit: str) -> str:
        """Return a digit in the form that a call may store."""
        nonce = self._random(NONCE_BYTES)
        sealed = nonce + self._ciphers[0].encrypt(nonce, digit.encode(), call_id.encode())
        assert len(sealed) == TOKEN_BYTES  # noqa: S101 - the core counts tokens by their length
        return MARK + urlsafe_b64encode(sealed).decode().rstrip("=")

    def open(self, call_id: str, digits: str) -> str:
        """Return digits in plain; raises UnreadableDigits."""
        return _TOKEN.sub(lambda found: self._open_token(call_id, found[1]), digits)

    def open_result(self, call_id: str, body: bytes) -> tuple[bytes, str]:
        """Return a gather's webhook body with its digits in plain, and these digits.

        Raises UnreadableDigits.
        """
        result = decode(body, type=GatherResult)
        digits = self.open(call_id, result.dtmf)
        return encode(replace(result, dtmf=digits)), digits

    def _open_token(self, call_id: str, token: str) -> str:
        sealed = urlsafe_b64decode(token + _PADDING)
        for cipher in self._ciphers:
            try:
                nonce, text = sealed[:NONCE_BYTES], sealed[NONCE_BYTES:]
                return cipher.decrypt(nonce, text, call_id.encode()).decode()
            except InvalidTag:
                continue
        raise UnreadableDigits


def _derive_key(secret: str) -> bytes:
    return HKDF(SHA256(), 32, salt=None, info=b"switchroom sensitive digits").derive(
        secret.encode()
    )
