"""Limits what phones in browsers send over their websockets: a node reads and logs each message."""

from collections import Counter
from collections.abc import Callable, Hashable

# In a window. A phone that starts subscribes to fifty others, with two messages each and an answer.
MAX_FRAMES = 500  # of one websocket
MAX_FRAMES_OF_ACCOUNT = 5_000  # of all its websockets, also of those that have ended
OWN_FRAMES = 50  # of one websocket, whatever the others of its account send
WINDOW_S = 10.0
FRAME_BYTES = 2_048  # a larger frame counts as several
_HEAD_BYTES = 2  # flags and type, mask and length: RFC 6455, section 5.2
_MASK_BYTES = 4
_EXTENDED_BYTES = {126: 2, 127: 8}  # of a length that is not in the first two bytes


class FrameCounter:
    """Counts the frames of one websocket, whose bytes arrive in pieces of any size."""

    def __init__(self) -> None:
        self._head = b""  # of a frame, as far as it has arrived
        self._rest_bytes = 0  # of a frame whose head has arrived

    def count(self, data: bytes) -> int:
        """Return how many frames begin in these bytes; little more than MAX_FRAMES at most."""
        data, self._head = self._head + data, b""
        at, frames = min(self._rest_bytes, len(data)), 0
        self._rest_bytes -= at
        while at < len(data) and frames <= MAX_FRAMES:
            size = _frame_bytes(data, at)
            if not size:
                self._head = data[at:]
                break
            frames += 1 + size // FRAME_BYTES
            self._rest_bytes = max(0, at + size - len(data))
            at += size
        return frames


def _frame_bytes(data: bytes, at: int) -> int:
    """Return the size of the frame that begins at a place; 0: not all of its head is there."""
    head = data[at : at + _HEAD_BYTES]
    if len(head) < _HEAD_BYTES:
        return 0
    length = head[1] & 0x7F
    extended = _EXTENDED_BYTES.get(length, 0)
    end = at + _HEAD_BYTES + extended
    if len(data) < end:
        return 0
    if extended:
        length = int.from_bytes(data[end - extended : end])
    return _HEAD_BYTES + extended + (_MASK_BYTES if head[1] & 0x80 else 0) + length


class FrameShares:
    """The frames of all websockets of a process in this window; `clock` returns seconds."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._since_s = float("-inf")
        self._of_websocket: Counter[Hashable] = Counter()
        self._of_account: Counter[str] = Counter()

    def is_spent(self, account_id: str) -> bool:
        """Return whether an account has sent as much as it may: it opens no further websocket."""
        self._begin_window()
        return self._of_account[account_id] >= MAX_FRAMES_OF_ACCOUNT

    def is_exceeded(self, websocket: Hashable, account_id: str, frames: int) -> bool:
        """Count frames; return whether the websocket has sent too many in this window."""
        self._begin_window()
        self._of_websocket[websocket] += frames
        self._of_account[account_id] += frames
        sent = self._of_websocket[websocket]
        is_account_over = self._of_account[account_id] > MAX_FRAMES_OF_ACCOUNT
        return sent > MAX_FRAMES or (sent > OWN_FRAMES and is_account_over)

    def _begin_window(self) -> None:
        now_s = self._clock()
        if now_s - self._since_s >= WINDOW_S:
            self._since_s = now_s
            self._of_websocket.clear()
            self._of_account.clear()
