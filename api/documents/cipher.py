"""Encrypts documents that contain customers' secrets, with a key that the database does not have.

The key is derived from the secret that signs access tokens. Ciphertexts name their key, so that
those of an earlier secret are found and encrypted again (`DocumentStore.encrypt_again`).
"""

import secrets
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from msgspec import Struct

from api.common.errors import ServiceUnavailable

_KEY_BYTES = 32
_NAME_BYTES = 4
_NONCE_BYTES = 12


class UnreadableDocument(ServiceUnavailable):
    """A document was encrypted with a secret that this process does not have."""

    code = "unreadable_document"


class _Key(Struct, frozen=True):
    name: bytes
    cipher: AESGCM


class DocumentCipher:
    """Encrypts with the first secret; decrypts with any of them."""

    def __init__(self, token_secrets: Sequence[str]) -> None:
        self._keys = [_derive(each) for each in token_secrets]

    @property
    def key_name(self) -> bytes:
        """The first bytes of whatever the first secret encrypts."""
        return self._keys[0].name

    def encrypt(self, place: str, body: bytes) -> bytes:
        """Return a document as it is stored; it is bound to its place."""
        key, nonce = self._keys[0], secrets.token_bytes(_NONCE_BYTES)
        return key.name + nonce + key.cipher.encrypt(nonce, body, place.encode())

    def decrypt(self, place: str, stored: bytes) -> bytes:
        """Return a stored document; raises UnreadableDocument."""
        name, nonce = stored[:_NAME_BYTES], stored[_NAME_BYTES : _NAME_BYTES + _NONCE_BYTES]
        for key in self._keys:
            if key.name == name:
                try:
                    return key.cipher.decrypt(
                        nonce, stored[_NAME_BYTES + _NONCE_BYTES :], place.encode()
                    )
                except InvalidTag:
                    break
        raise UnreadableDocument(
            f"{place} was encrypted with another secret: add it to SWITCHROOM_OLD_TOKEN_SECRETS"
        )


def _derive(secret: str) -> _Key:
    derived = HKDF(
        SHA256(), _KEY_BYTES + _NAME_BYTES, salt=None, info=b"switchroom documents"
    ).derive(secret.encode())
    return _Key(derived[_KEY_BYTES:], AESGCM(derived[:_KEY_BYTES]))
