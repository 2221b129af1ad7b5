"""Collects frames into larger messages, which services prefer."""

from speech.audio.frames import SAMPLE_BYTES


class AudioChunks:
    """The audio that waits for a message of at least `length_ms`."""

    def __init__(self, rate: int, length_ms: int) -> None:
        self._bytes = rate * length_ms // 1000 * SAMPLE_BYTES
        self._audio = bytearray()

    def add(self, audio: bytes) -> bytes:
        """Return what is to be sent now, if anything."""
        self._audio += audio
        return self.take() if len(self._audio) >= self._bytes else b""

    def take(self) -> bytes:
        """Return what waits."""
        taken = bytes(self._audio)
        self._audio.clear()
        return taken
