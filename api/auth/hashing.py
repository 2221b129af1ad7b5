"""Stored forms of API keys and secrets.

Both are 256 random bits, so SHA-256 is enough: nobody can try them all. The first versions stored
scrypt hashes, which are replaced when they are next used (docs/rest.md).
"""

import base64
import hashlib
import hmac

SCHEME, OLD_SCHEME = "sha256", "scrypt"


def hash_secret(secret: str) -> str:
    """Hash a secret of 256 random bits."""
    return f"{SCHEME}${hashlib.sha256(secret.encode()).hexdigest()}"


def verify_secret(secret: str, stored: str) -> bool:
    """Return whether a secret matches a hash; 50 ms of CPU for an old one."""
    if is_old(stored):
        return _verify_scrypt(secret, stored)
    return hmac.compare_digest(hash_secret(secret), stored)


def is_old(stored: str) -> bool:
    """Return whether a hash is slow to verify, and is to be replaced."""
    return stored.startswith(f"{OLD_SCHEME}$")


def _verify_scrypt(secret: str, stored: str) -> bool:
    _scheme, cost, salt, digest = stored.split("$")
    actual = hashlib.scrypt(
        secret.encode(), salt=base64.b64decode(salt), n=2 ** int(cost), r=8, p=1, dklen=32
    )
    return hmac.compare_digest(actual, base64.b64decode(digest))
