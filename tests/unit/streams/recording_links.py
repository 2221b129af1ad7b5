"""The two ends of a stream, which keep what they get."""

from tests.unit.streams.recording_sink import RecordingSink


class RecordingPbx(RecordingSink):
    """The PBX's end."""

    def __init__(self) -> None:
        super().__init__()
        self.is_closed = False

    def close(self) -> None:
        self.is_closed = True


class RecordingBot:
    """The bot's end: texts and binary messages, in order; it may be left unread."""

    is_read = True

    def __init__(self) -> None:
        self.texts: list[bytes] = []
        self.audio: list[bytes] = []
        self.is_closed = False

    def send_text(self, data: bytes) -> None:
        self.texts.append(data)

    def pause_reading(self) -> None:
        self.is_read = False

    def resume_reading(self) -> None:
        self.is_read = True

    def send_binary(self, data: bytes) -> None:
        self.audio.append(data)

    def close(self) -> None:
        self.is_closed = True
