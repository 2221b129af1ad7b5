"""Removes data about other accounts from an engine's server-sent events.

An engine's event ids contain the stream position of every shard, as do its notices of lost events.
These positions reveal how busy all accounts together are. So ids are encrypted, and a notice only
says that events were lost.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterator

from cryptography.fernet import Fernet, InvalidToken
from msgspec import Struct

from wire.decoding.errors import BadInput

LOST_FRAME = b"event: lost\ndata: {}\n\n"
PADDING_BYTES = 256  # ids are padded to a multiple of it: their length must not reveal positions
_END = b"\n\n"


class EventIdCipher:
    """Encrypts event ids; every process with the same secret can decrypt them."""

    def __init__(self, secret: str) -> None:
        key = hmac.digest(secret.encode(), b"ids of live events", "sha256")
        self._fernet = Fernet(urlsafe_b64encode(key))

    def encrypt(self, position: bytes) -> bytes:
        """Encrypt an engine's id; the padding is blanks, which JSON ignores."""
        return self._fernet.encrypt(
            position.ljust(-(-len(position) // PADDING_BYTES) * PADDING_BYTES)
        )

    def decrypt(self, text: str) -> str:
        """Decrypt an id; raises BadInput if it is not one of ours."""
        try:
            return self._fernet.decrypt(text.encode()).decode().rstrip()
        except InvalidToken:
            raise BadInput("Last-Event-ID", "not one of this stream's ids") from None


class Frame(Struct, frozen=True):
    """A message for the account, and the engine's position after it; a notice has none."""

    text: bytes
    position: bytes = b""


class SseFilter:
    """Splits a stream into frames without its comments, and rewrites each."""

    def __init__(self, cipher: EventIdCipher) -> None:
        self._cipher = cipher
        self._partial = b""

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """Return the frames that end in a chunk, rewritten for the account."""
        *messages, self._partial = (self._partial + chunk).split(_END)
        return (self._rewrite(each) for each in messages if not each.startswith(b":"))

    def _rewrite(self, message: bytes) -> Frame:
        name, _, rest = message.partition(b": ")
        if name == b"id":
            position, _, event = rest.partition(b"\n")
            text = b"id: %b\n%b\n\n" % (self._cipher.encrypt(position), event)
            return Frame(text, position)
        return Frame(LOST_FRAME if rest.startswith(b"lost\n") else message + _END)
