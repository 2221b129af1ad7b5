"""Signatures of requests between engines.

An engine reads the addresses of others from the store, so it sends no bearer token there. A request
carries an HMAC over its receiver, method, path, body, time and nonce, by a key that is derived from
the token: it is worth nothing at another engine, and nothing the second time.
"""

import hashlib
import hmac
import secrets
from collections import deque
from collections.abc import Callable, Sequence

from msgspec import Struct

SCHEME = "Switchroom-Engine"
MAX_AGE_S = 120.0  # and the largest difference between the clocks of two engines
MAX_SKEW_S = 1.0  # of the clocks of engines that are well: both follow the store's
_PURPOSE = b"switchroom: requests between engines"
_NONCE_BYTES = 16
_PARTS = 4


class RequestLine(Struct, frozen=True):
    """What is signed beside the body: the receiver's URL, the method, the path with its query."""

    receiver: str
    method: str
    path: str


class Signature(Struct, frozen=True):
    """The credentials of a request, as its Authorization header carries them."""

    time_s: str
    nonce: str
    body_digest: str
    mac: str

    def __str__(self) -> str:
        return f"{SCHEME} {self.time_s} {self.nonce} {self.body_digest} {self.mac}"


def parse_signature(header: str) -> Signature | None:
    """Parse an Authorization header; None if it is not a signature."""
    scheme, _, rest = header.partition(" ")
    parts = rest.split(" ")
    return Signature(*parts) if scheme == SCHEME and len(parts) == _PARTS else None


def digest_of(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


class RequestSigner:
    """Signs the requests of one engine; `clock` is a time that all engines share, in seconds."""

    def __init__(self, token: str, clock: Callable[[], float]) -> None:
        self._key = _derive_key(token)
        self._clock = clock

    def sign(self, line: RequestLine, body: bytes) -> str:
        """Return the Authorization header of a request."""
        time_s, nonce = f"{self._clock():.3f}", secrets.token_hex(_NONCE_BYTES)
        digest = digest_of(body)
        return str(Signature(time_s, nonce, digest, _mac(self._key, line, time_s, nonce, digest)))


class SignatureVerifier:
    """Verifies signatures by any of the accepted tokens, each once."""

    def __init__(self, tokens: Sequence[str], clock: Callable[[], float]) -> None:
        self._keys = [_derive_key(token) for token in tokens]
        self._clock = clock
        self._started_s = clock()
        self._seen: set[str] = set()  # nonces of accepted requests
        self._expiry: deque[tuple[float, str]] = deque()

    def verify(self, line: RequestLine, given: Signature) -> str:
        """Return why a signature is refused; empty if it is accepted, except for the body."""
        now_s = self._clock()
        if not self._is_genuine(line, given):
            return "wrong signature"
        if abs(now_s - float(given.time_s)) > MAX_AGE_S:
            return "the signature is too old, or the clocks of the engines differ"
        if float(given.time_s) < self._started_s - MAX_SKEW_S:
            return "the request was signed before this engine started"  # who knows if it was seen
        self._forget(now_s)
        if given.nonce in self._seen:
            return "the request was sent before"
        self._seen.add(given.nonce)
        self._expiry.append((now_s + 2 * MAX_AGE_S, given.nonce))
        return ""

    def _is_genuine(self, line: RequestLine, given: Signature) -> bool:
        macs = [_mac(key, line, given.time_s, given.nonce, given.body_digest) for key in self._keys]
        mac = given.mac.encode(errors="surrogateescape")
        return any(hmac.compare_digest(mac, each.encode()) for each in macs)

    def _forget(self, now_s: float) -> None:
        while self._expiry and self._expiry[0][0] < now_s:
            self._seen.discard(self._expiry.popleft()[1])


def _derive_key(token: str) -> bytes:
    return hmac.digest(token.encode(), _PURPOSE, "sha256")


def _mac(key: bytes, line: RequestLine, time_s: str, nonce: str, digest: str) -> str:
    parts = (line.receiver, line.method, line.path, time_s, nonce, digest)
    text = "\n".join(parts).encode(errors="surrogateescape")
    return hmac.digest(key, text, "sha256").hex()
