"""What a PBX plays of a bot's audio: at most 100 ms ahead, in order with marks, never a gap.

Asterisk plays a frame every 20 ms and sends nothing when it has none, so the gateway sends silence
then, or carriers and firewalls would end the call. Silence never delays what a bot begins to say:
what is left of it is flushed then. The count of what was heard is a model of that clock.
"""

from collections import deque
from collections.abc import Collection
from typing import Protocol

from streams.stream.audio import FRAME_MS, AudioFormat
from streams.stream.drain import BacklogDrain

MAX_AHEAD_MS = 100
SILENCE_AHEAD_MS = 10  # less than this is left: more silence follows
GRACE_MS = 60  # a frame of a bot may be so late before silence replaces it
TAIL_MS = 40  # after that, an incomplete frame is filled up with silence
MAX_QUEUE = 10 * 60 * 1000 // FRAME_MS  # ten minutes of frames
PROBE_FRAMES = 12  # so often it is compared with Asterisk's queue
SETTLED_MS = 400  # after a bot's audio: it was certainly played, even if Asterisk has stood still
AUDIBLE = 300  # a mean magnitude; less is silence


class QueueFull(Exception):
    """A bot has sent more audio than can be kept."""


class PbxSink(Protocol):
    """The PBX's end of a stream."""

    def send_frame(self, frame: bytes) -> None: ...

    def send_mark(self, key: str) -> None: ...

    def ask_queue(self) -> None: ...

    def flush(self) -> None: ...

    def pause(self) -> None: ...

    def resume(self) -> None: ...


class Playout:
    """The audio on its way to a PBX; all times are milliseconds of one clock."""

    def __init__(self, sink: PbxSink, audio: AudioFormat) -> None:
        self._sink = sink
        self._audio = audio
        self._silence = audio.silence
        self._size = audio.frame_bytes
        self._queue: deque[bytes | str] = deque()  # frames, and the keys of marks
        self._queued_frames = 0
        self._tail = b""
        self._tail_ms = 0.0
        self._ends: deque[float] = deque()  # when each frame in Asterisk will have been played
        self._busy_ms = float("-inf")  # until then, Asterisk has something to play
        self._is_silence = True  # that is silence of the gateway
        self._audio_end_ms = float("-inf")  # when the last frame of the bot will have been played
        self._heard_frames = 0
        self._marks: dict[str, None] = {}  # not heard yet, in order
        self._is_started = False
        self._paused_ms: float | None = 0.0  # until it is started
        self._drain = BacklogDrain()
        self._audible_ms = float("-inf")
        self._until_probe = PROBE_FRAMES
        self._probed_ms: float | None = None  # what the model had ahead, when it was compared

    @property
    def is_paused(self) -> bool:
        return self._paused_ms is not None and self._is_started

    @property
    def marks(self) -> Collection[str]:
        """The keys of marks that were not heard yet."""
        return self._marks.keys()

    @property
    def audible_until_ms(self) -> float:
        """When the last frame with a sound that Asterisk has will have been played."""
        return self._audible_ms

    def start(self, now_ms: float) -> None:
        """Send what has waited until the PBX was ready."""
        self._is_started = True
        self._paused_ms = None
        self.tick(now_ms)

    def add(self, data: bytes, now_ms: float) -> None:
        """Play audio after what is there; raises QueueFull."""
        if self._tail:
            data = self._tail + data
            self._tail = b""
        size = self._size
        if len(data) == size:
            self._add_frame(data, now_ms)
            return
        whole = len(data) - len(data) % size
        for start in range(0, whole, size):
            self._add_frame(data[start : start + size], now_ms)
        if whole < len(data):
            self._tail, self._tail_ms = data[whole:], now_ms

    def add_mark(self, key: str, now_ms: float) -> None:
        """Have a mark returned when the audio before it was heard; raises QueueFull."""
        self._fill_tail(now_ms)
        self._marks[key] = None
        if self._queue or self._paused_ms is not None:
            self._queue.append(key)
        else:
            self._sink.send_mark(key)

    def mark_heard(self, key: str) -> bool:
        """Take a mark that the PBX returns; False: it was cleared before."""
        if key not in self._marks:
            return False
        del self._marks[key]
        return True

    def queue_known(self, frames: int) -> None:
        """Take the length of Asterisk's queue: on a busy machine its clock may have stood still."""
        ahead_ms, self._probed_ms = self._probed_ms, None
        if ahead_ms is None or self._marks:
            return  # marks are in that queue, too
        least_ms = float(frames * FRAME_MS)
        shift_ms = min(max(ahead_ms, least_ms), least_ms + FRAME_MS) - ahead_ms
        if shift_ms:
            self._shift(shift_ms)

    def clear(self, now_ms: float) -> list[str]:
        """Drop all audio; return the marks that will never be heard."""
        now_ms = self._played_ms(now_ms)
        self._count_heard(now_ms)
        cleared = [*self._marks]
        self._probed_ms = None
        if self._is_started and (self._busy_ms > now_ms or cleared or not self._is_settled(now_ms)):
            self._sink.flush()
        self._queue.clear()
        self._queued_frames = 0
        self._marks.clear()
        self._ends.clear()
        self._tail = b""
        self._busy_ms = now_ms
        self._audible_ms = min(self._audible_ms, now_ms)
        self._audio_end_ms = float("-inf")
        self._is_silence = True
        self._drain.restart()
        return cleared

    def pause(self, now_ms: float) -> None:
        """Stop at the next frame; nothing is lost."""
        if self._paused_ms is None:
            self._paused_ms = now_ms
            self._probed_ms = None
            self._sink.pause()

    def resume(self, now_ms: float) -> None:
        """Continue where it was paused."""
        if self._paused_ms is None or not self._is_started:
            return
        self._shift(now_ms - self._paused_ms)
        self._paused_ms = None
        self._sink.resume()
        self.tick(now_ms)

    def heard_ms(self, now_ms: float) -> int:
        """Return how much of the bot's audio was played."""
        self._count_heard(self._played_ms(now_ms))
        return self._heard_frames * FRAME_MS

    def is_audible(self, now_ms: float) -> bool:
        """Return whether a sound of the bot is played, or waits; its silence is none."""
        return self._audible_ms > self._played_ms(now_ms) or self._queued_frames > 0

    def tick(self, now_ms: float) -> None:
        """Send what is due; called every few milliseconds."""
        if self._paused_ms is not None:
            return
        while self._queue:
            item = self._queue[0]
            if isinstance(item, str):
                self._sink.send_mark(item)
            elif self._busy_ms - now_ms < MAX_AHEAD_MS:
                self._queued_frames -= 1
                self._send(item, now_ms)
            else:
                break
            self._queue.popleft()
        if now_ms - self._tail_ms >= TAIL_MS:
            self._fill_tail(now_ms)
        if self._is_silence:
            is_due = self._busy_ms - now_ms <= SILENCE_AHEAD_MS
        else:
            is_due = now_ms - self._busy_ms >= GRACE_MS
        if is_due:  # so the queue is empty: its frames wait only while the PBX has MAX_AHEAD_MS
            self._busy_ms = max(now_ms, self._busy_ms) + FRAME_MS
            self._is_silence = True
            self._sink.send_frame(self._silence)

    def _add_frame(self, frame: bytes, now_ms: float) -> None:
        ahead_ms = self._busy_ms - now_ms
        backlog_ms = 0.0
        if not self._is_silence or self._queue:
            backlog_ms = max(0.0, ahead_ms) + self._queued_frames * FRAME_MS
        # A short one cannot be worth a drop: most frames need not be measured.
        is_silent = backlog_ms >= FRAME_MS and self._audio.level(frame) < AUDIBLE
        if self._drain.drops(backlog_ms, is_silent, now_ms):
            return
        if self._queue or self._paused_ms is not None or ahead_ms >= MAX_AHEAD_MS:
            if len(self._queue) >= MAX_QUEUE:
                raise QueueFull
            self._queue.append(frame)
            self._queued_frames += 1
        else:
            self._send(frame, now_ms)

    def _send(self, frame: bytes, now_ms: float) -> None:
        if self._is_silence:
            # Nothing but silence is ahead, and no mark is behind it: the audio need not wait.
            if self._busy_ms > now_ms and not self._marks and self._is_settled(now_ms):
                self._sink.flush()
                self._busy_ms = now_ms
            self._is_silence = False
        self._until_probe -= 1
        if not self._until_probe:
            self._until_probe = PROBE_FRAMES
            self._probed_ms = max(0.0, self._busy_ms - now_ms)
            self._sink.ask_queue()
        self._sink.send_frame(frame)
        self._busy_ms = max(self._busy_ms, now_ms) + FRAME_MS
        self._ends.append(self._busy_ms)
        self._audio_end_ms = self._busy_ms
        if self._audio.level(frame) >= AUDIBLE:
            self._audible_ms = self._busy_ms
        if self._ends[0] <= now_ms:
            self._count_heard(now_ms)

    def _is_settled(self, now_ms: float) -> bool:
        return now_ms - self._audio_end_ms >= SETTLED_MS

    def _fill_tail(self, now_ms: float) -> None:
        if self._tail:
            frame = self._tail + self._silence[len(self._tail) :]
            self._tail = b""
            self._add_frame(frame, now_ms)

    def _shift(self, by_ms: float) -> None:
        self._busy_ms += by_ms
        self._audible_ms += by_ms
        self._audio_end_ms += by_ms
        self._ends = deque(end_ms + by_ms for end_ms in self._ends)

    def _played_ms(self, now_ms: float) -> float:
        return now_ms if self._paused_ms is None else self._paused_ms

    def _count_heard(self, now_ms: float) -> None:
        ends = self._ends
        while ends and ends[0] <= now_ms:
            ends.popleft()
            self._heard_frames += 1
