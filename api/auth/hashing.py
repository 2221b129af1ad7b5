"""Secrets as they are kept: by scrypt, so that a stolen database opens no door."""

import base64
import hashlib
import hmac
import secrets

COST, BLOCK, PARALLELISM = 14, 8, 1  # 2^14: 16 MiB and about 50 ms (RFC 7914, section 2)
SALT_BYTES = 16


def hash_secret(secret: str, cost: int = COST) -> str:
    """Hash a secret; takes its time, so not on the event loop."""
    salt = secrets.token_bytes(SALT_BYTES)
    return f"scrypt${cost}${_text(salt)}${_text(_derived(secret, salt, cost))}"


def verify_secret(secret: str, kept: str) -> bool:
    """Tell whether a secret is the one that was hashed; takes its time, too."""
    _scheme, cost, salt, digest = kept.split("$")
    derived = _derived(secret, base64.b64decode(salt), int(cost))
    return hmac.compare_digest(derived, base64.b64decode(digest))


def _derived(secret: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=2**cost, r=BLOCK, p=PARALLELISM, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
