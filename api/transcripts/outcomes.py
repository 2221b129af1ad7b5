"""Why a recording is not transcribed now, or never: exceptions of an attempt."""

from api.transcripts.store import Reason


class TranscriptionError(Exception):
    """Base: `reason` and `detail` are shown to the customer."""

    def __init__(self, reason: Reason, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail


class Postponed(TranscriptionError):
    """What it needs is not there yet: this is no attempt."""

    def __init__(self, reason: Reason, detail: str, delay_ms: int) -> None:
        super().__init__(reason, detail)
        self.delay_ms = delay_ms


class AttemptFailed(TranscriptionError):
    """Another attempt may succeed."""


class Untranscribable(TranscriptionError):
    """Every attempt would fail."""
