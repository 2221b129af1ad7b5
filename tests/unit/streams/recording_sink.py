"""A PBX's end of a stream that keeps what it gets."""


class RecordingSink:
    """What was sent to a PBX, in order: frames, and the names of commands."""

    def __init__(self) -> None:
        self.sent: list[bytes | str] = []
        self.questions = 0  # for the length of its queue

    def send_frame(self, frame: bytes) -> None:
        self.sent.append(frame)

    def send_mark(self, key: str) -> None:
        self.sent.append(f"mark {key}")

    def ask_queue(self) -> None:
        self.questions += 1

    def flush(self) -> None:
        self.sent.append("flush")

    def pause(self) -> None:
        self.sent.append("pause")

    def resume(self) -> None:
        self.sent.append("resume")

    def taken(self) -> list[bytes | str]:
        """Return what was sent since the last time."""
        found, self.sent = self.sent, []
        return found
