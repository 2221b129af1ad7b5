"""Encrypts documents that contain customers' secrets, with keys that the store does not have.

Encryption is deterministic (AES-SIV, RFC 5297): a document that is compared before it is replaced
has one form for each key. It is bound to the place where it is stored.
"""

from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from engine.store.errors import StoreDown

_MARK = b"\x00siv1"  # no JSON document begins with it
_KEY_BYTES = 64


class UnreadableDocument(StoreDown):
    """A document was encrypted with a key that this engine does not have."""


class DocumentCipher:
    """Encrypts with `key`, if there is one; decrypts with it and the further ones."""

    def __init__(self, key: str = "", further: Sequence[str] = ()) -> None:
        self._first = _cipher(key) if key else None
        self._ciphers = [*([self._first] if self._first else []), *map(_cipher, further)]

    def encrypt(self, place: str, document: bytes) -> bytes:
        """Return a document as it is stored; without a key as it is."""
        return document if self._first is None else _encrypt(self._first, place, document)

    def decrypt(self, place: str, stored: bytes) -> bytes:
        """Return a stored document; raises UnreadableDocument."""
        if not stored.startswith(_MARK):
            return stored
        for cipher in self._ciphers:
            try:
                return cipher.decrypt(stored.removeprefix(_MARK), [place.encode()])
            except InvalidTag:
                continue
        raise UnreadableDocument(f"{place}: encrypted with another key (SWITCHROOM_STORE_KEY)")


def _encrypt(cipher: AESSIV, place: str, document: bytes) -> bytes:
    return _MARK + cipher.encrypt(document, [place.encode()])


def _cipher(secret: str) -> AESSIV:
    derived = HKDF(SHA256(), _KEY_BYTES, salt=None, info=b"switchroom documents")
    return AESSIV(derived.derive(secret.encode()))
