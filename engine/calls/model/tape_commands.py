"""What a call wants of who records it: tapes of its legs, and their way into the archive."""

from engine.calls.model.base import StoredCommand


class StartTape(StoredCommand, frozen=True, tag="start-recording"):
    """Record what a leg says (left) and hears (right) to a file of the PBX."""

    leg: str
    name: str


class MuteTape(StoredCommand, frozen=True, tag="mute-recording"):
    """Let a leg's tape run on in silence, or hear again."""

    leg: str
    muted: bool


class StopTape(StoredCommand, frozen=True, tag="stop-recording"):
    """End a leg's tape; it ends by itself when its leg does."""

    leg: str
    name: str


class FileTapes(StoredCommand, frozen=True, tag="archive-recordings"):
    """Put tapes into the archive as one recording and tell, by TapesFiled."""

    request: str
    names: tuple[str, ...]


TapeCommand = StartTape | MuteTape | StopTape | FileTapes
