"""An engine's server-sent events as an account may see them: without what others do.

An engine's ids say how far the stream of every slot is, and so does what it tells of events that
were lost. Whoever counts that knows how busy all accounts together are. So ids are sealed, and of a
loss only that it happened is told.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Iterator

from cryptography.fernet import Fernet, InvalidToken

from wire.errors import BadInput

COMMENT_FRAME = b":\n\n"
LOST_FRAME = b"event: lost\ndata: {}\n\n"
PADDING_BYTES = (
    256  # ids are as long as the next multiple of it: their length must not count digits
)
_END = b"\n\n"


class EventIdCipher:
    """Makes ids that nobody but us can read: every process with the same secret can."""

    def __init__(self, secret: str) -> None:
        key = hmac.digest(secret.encode(), b"ids of live events", "sha256")
        self._fernet = Fernet(urlsafe_b64encode(key))

    def encrypt(self, place: bytes) -> bytes:
        """Seal an engine's id; the blanks behind it mean nothing in JSON."""
        return self._fernet.encrypt(place.ljust(-(-len(place) // PADDING_BYTES) * PADDING_BYTES))

    def decrypt(self, text: str) -> str:
        """Give an engine's id back; raises BadInput for what is none of ours."""
        try:
            return self._fernet.decrypt(text.encode()).decode().rstrip()
        except InvalidToken:
            raise BadInput("Last-Event-ID", "not one of this stream's ids") from None


class SseFilter:
    """Cuts what comes into events, whatever pieces it comes in."""

    def __init__(self, seal: EventIdCipher) -> None:
        self._cipher = seal
        self._partial = b""

    def feed(self, piece: bytes) -> Iterator[bytes]:
        """Give the events and comments that end in a piece, as they may be seen."""
        *whole, self._partial = (self._partial + piece).split(_END)
        return map(self._rewrite, whole)

    def _rewrite(self, frame: bytes) -> bytes:
        name, _, rest = frame.partition(b": ")
        if name == b"id":
            place, _, event = rest.partition(b"\n")
            return b"id: %b\n%b\n\n" % (self._cipher.encrypt(place), event)
        return LOST_FRAME if rest.startswith(b"lost\n") else frame + _END
