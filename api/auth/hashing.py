"""Secrets as they are kept: by scrypt, so that a stolen database opens no door."""

import base64
import hashlib
import hmac
import secrets

COST, BLOCK, LANES = 2**14, 8, 1  # 16 MiB and about 50 ms (RFC 7914, section 2)
SALT_BYTES = 16


def hashed(secret: str) -> str:
    """Hash a secret; takes its time, so not on the event loop."""
    salt = secrets.token_bytes(SALT_BYTES)
    return f"scrypt${_text(salt)}${_text(_derived(secret, salt))}"


def matches(secret: str, kept: str) -> bool:
    """Tell whether a secret is the one that was hashed; takes its time, too."""
    _scheme, salt, digest = kept.split("$")
    return hmac.compare_digest(_derived(secret, base64.b64decode(salt)), base64.b64decode(digest))


def _derived(secret: str, salt: bytes) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=COST, r=BLOCK, p=LANES, dklen=32)


def _text(data: bytes) -> str:
    return base64.b64encode(data).decode()
