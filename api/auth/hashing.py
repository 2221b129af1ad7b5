"""Secrets are stored as scrypt hashes."""

import base64
import hashlib
import hmac
import secrets

COST, BLOCK, PARALLELISM = 14, 8, 1  # 2^14: 16 MiB and about 50 ms (RFC 7914, section 2)
SALT_BYTES = 16


def hash_secret(secret: str, cost: int = COST) -> str:
    """Hash a secret; slow, so never on the event loop."""
    salt = secrets.token_bytes(SALT_BYTES)
    return f"scrypt${cost}${_base64(salt)}${_base64(_scrypt(secret, salt, cost))}"


def verify_secret(secret: str, stored: str) -> bool:
    """Return whether a secret matches a hash; as slow as hashing."""
    _scheme, cost, salt, digest = stored.split("$")
    actual = _scrypt(secret, base64.b64decode(salt), int(cost))
    return hmac.compare_digest(actual, base64.b64decode(digest))


def _scrypt(secret: str, salt: bytes, cost: int) -> bytes:
    return hashlib.scrypt(secret.encode(), salt=salt, n=2**cost, r=BLOCK, p=PARALLELISM, dklen=32)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
