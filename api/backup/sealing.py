"""Seals the records of a backup with a passphrase: scrypt and AES-256-GCM.

The number of a chunk is its nonce, and the header is authenticated with each one: no chunk can be
changed, removed, repeated or taken from another backup. The last record says that it is the last.
"""

import hmac
import secrets
import zlib
from collections.abc import Iterator
from typing import IO

import msgspec
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from api.backup.records import FORMAT, Cost, End, Header, InvalidBackup, Record

MAGIC = b"switchroom-backup\n"
MIN_PASSPHRASE = 12
MAX_HEADER_BYTES = 4_096
MAX_CHUNK_BYTES = 1 << 30  # a row with the largest part of a file is far smaller
COST = 17  # OWASP's; 128 MiB, half a second
SCRYPT_R, SCRYPT_P = 8, 1
LENGTH_BYTES = 4
COMPRESSION_LEVEL = 1
DAMAGED = "the file is damaged: it was changed, or a part is missing"
TRUNCATED = "the file is truncated: its end is missing"
_RECORDS: msgspec.msgpack.Decoder[Record] = msgspec.msgpack.Decoder(Record)


class SealedWriter:
    """Writes a backup; the header has what `described` says. Raises InvalidBackup."""

    def __init__(
        self, file: IO[bytes], passphrase: str, *, cost: Cost = COST, **described: str
    ) -> None:
        if len(passphrase) < MIN_PASSPHRASE:
            raise InvalidBackup(f"the passphrase needs at least {MIN_PASSPHRASE} characters")
        salt = secrets.token_bytes(16)
        key, verifier = _derive(passphrase, salt, cost)
        header = Header(format=FORMAT, salt=salt, cost=cost, verifier=verifier, **described)
        self._file = file
        self._cipher, self._bound = AESGCM(key), _bound(header)
        self._chunk = 0
        file.write(MAGIC + self._bound + b"\n")

    def write(self, record: Record) -> None:
        """Seal and write a record."""
        plain = zlib.compress(msgspec.msgpack.encode(record), COMPRESSION_LEVEL)
        sealed = self._cipher.encrypt(_nonce(self._chunk), plain, self._bound)
        self._chunk += 1
        self._file.write(len(sealed).to_bytes(LENGTH_BYTES, "big") + sealed)


def read_header(file: IO[bytes]) -> Header:
    """Read the header; raises InvalidBackup."""
    if file.read(len(MAGIC)) != MAGIC:
        raise InvalidBackup("the file is no backup of Switchroom")
    line = file.readline(MAX_HEADER_BYTES)
    if not line.endswith(b"\n"):
        raise InvalidBackup(TRUNCATED)
    try:
        found = msgspec.json.decode(line, type=dict[str, msgspec.Raw])
        number = msgspec.json.decode(found.get("format", msgspec.Raw(b"0")), type=int)
        if number > FORMAT:
            raise InvalidBackup(
                f"the backup has format {number}, of a later version; this one reads {FORMAT}"
            )
        return msgspec.json.decode(line, type=Header)
    except msgspec.DecodeError:
        raise InvalidBackup(DAMAGED) from None


def read_records(file: IO[bytes], header: Header, passphrase: str) -> Iterator[Record]:
    """Yield the records up to the last; raises InvalidBackup."""
    key, verifier = _derive(passphrase, header.salt, header.cost)
    if not hmac.compare_digest(verifier, header.verifier):
        raise InvalidBackup("the passphrase is wrong")
    cipher, bound, chunk = AESGCM(key), _bound(header), 0
    while True:
        record = _open(cipher, chunk, _read_chunk(file), bound)
        yield record
        if isinstance(record, End):
            break
        chunk += 1
    if file.read(1):
        raise InvalidBackup(DAMAGED)


def _read_chunk(file: IO[bytes]) -> bytes:
    prefix = file.read(LENGTH_BYTES)
    length = int.from_bytes(prefix, "big")
    if len(prefix) < LENGTH_BYTES:
        raise InvalidBackup(TRUNCATED)
    if length > MAX_CHUNK_BYTES:
        raise InvalidBackup(DAMAGED)
    sealed = file.read(length)
    if len(sealed) < length:
        raise InvalidBackup(TRUNCATED)
    return sealed


def _open(cipher: AESGCM, chunk: int, sealed: bytes, bound: bytes) -> Record:
    try:
        plain = zlib.decompress(cipher.decrypt(_nonce(chunk), sealed, bound))
        return _RECORDS.decode(plain)
    except (InvalidTag, zlib.error, msgspec.DecodeError):
        raise InvalidBackup(DAMAGED) from None


def _derive(passphrase: str, salt: bytes, cost: Cost) -> tuple[bytes, bytes]:
    scrypt = Scrypt(salt=salt, length=48, n=2**cost, r=SCRYPT_R, p=SCRYPT_P)
    derived = scrypt.derive(passphrase.encode())
    return derived[:32], derived[32:]


def _bound(header: Header) -> bytes:
    return msgspec.json.encode(header)


def _nonce(chunk: int) -> bytes:
    return chunk.to_bytes(12, "big")
