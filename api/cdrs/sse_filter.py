"""Removes data about other accounts from an engine's server-sent events.

An engine's event ids contain the stream position of every shard, as do its notices of lost events.
These positions reveal how busy all accounts together are. So ids are encrypted, and a notice only
says that events were lost.

Of messages that arrive together only the first and the last have an id: encrypting one takes as
long as everything else. A reader that is cut off between them gets some of them twice.
"""

import hmac
from base64 import urlsafe_b64encode
from collections.abc import Sequence

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from msgspec import Struct

from wire.decoding.errors import BadInput

LOST_FRAME = b"event: lost\ndata: {}\n\n"
PADDING_BYTES = 256  # ids are padded to a multiple of it: their length must not reveal positions
_END = b"\n\n"


class EventIdCipher:
    """Encrypts event ids with the first secret, and decrypts those of any.

    So readers continue while a secret is replaced.
    """

    def __init__(self, secrets: Sequence[str]) -> None:
        keys = (hmac.digest(each.encode(), b"ids of live events", "sha256") for each in secrets)
        self._fernet = MultiFernet([Fernet(urlsafe_b64encode(key)) for key in keys])

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
    """Messages for the account, and the engine's position after them; only notices have none."""

    text: bytes
    position: bytes = b""


class SseFilter:
    """Rewrites a stream's messages, without its comments."""

    def __init__(self, cipher: EventIdCipher) -> None:
        self._cipher = cipher
        self._partial = b""

    def feed(self, chunk: bytes) -> Frame:
        """Return the messages that end in a chunk, rewritten for the account; may be empty."""
        *messages, self._partial = (self._partial + chunk).split(_END)
        found = [_split(each) for each in messages if not each.startswith(b":")]
        with_id = [index for index, (position, _) in enumerate(found) if position]
        texts = [event for _, event in found]
        for index in {*with_id[:1], *with_id[-1:]}:
            texts[index] = b"id: %b\n%b" % (self._cipher.encrypt(found[index][0]), texts[index])
        return Frame(b"".join(texts), found[with_id[-1]][0] if with_id else b"")


def _split(message: bytes) -> tuple[bytes, bytes]:
    """Return a message's position and what follows it; a notice has no position."""
    name, _, rest = message.partition(b": ")
    if name == b"id":
        position, _, event = rest.partition(b"\n")
        return position, event + _END
    return b"", LOST_FRAME if rest.startswith(b"lost\n") else message + _END
