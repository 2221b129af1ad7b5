"""A recording: a file on the PBX with the audio of one leg, and its place in the archive.

The file's name contains all that archiving needs, also when the call is no longer stored:
`{account}~{day}~{call}.k{n}~{offset}~{leg}`. `k` is the recording of a call, in stereo; `v` a
voicemail, in mono. The offset is from the call's start: a name cannot follow a corrected clock. The
id of a leg that we originated is shortened to its last part, because it starts with the call's id.
"""

import re
from typing import Literal

from msgspec import Struct

from wire.call_id_format import CALL_ID

Purpose = Literal["call", "voicemail"]
RecordingState = Literal["running", "ended", "archived", "lost"]
MAX_LEG_CHARS = 64  # of a leg's id in a file name
CHANNELS: dict[Purpose, int] = {"call": 2, "voicemail": 1}
_KINDS: dict[str, Purpose] = {"k": "call", "v": "voicemail"}
_NAME = re.compile(
    r"(?P<account>[A-Za-z0-9_\-]{1,64})~(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    rf"~(?P<id>(?P<call>{re.sub(r'[?]P<[a-z]+>', '?:', CALL_ID.pattern)})\.(?P<kind>[kv])[0-9]+)"
    r"~(?P<offset>[0-9]{1,15})~(?P<leg>[A-Za-z0-9_.\-]{1,64})"
)


class Recording(Struct, frozen=True, array_like=True):
    """One recording of a call; times are wall-clock milliseconds."""

    name: str
    leg: str
    purpose: Purpose
    started_ms: int
    state: RecordingState = "running"
    muted: bool = False
    archive_request: str = ""  # the request that archives it
    duration_ms: int = 0  # of the archived recording


class RecordingDestination(Struct, frozen=True, array_like=True):
    """Where a call's recordings are archived: a base URL and a folder, set when the call starts."""

    base: str  # ends with a slash
    folder: str  # account/day

    @property
    def prefix(self) -> str:
        """Prefix of the names of the call's files."""
        return self.folder.replace("/", "~") + "~"


class RecordingName(Struct, frozen=True):
    """The parts of a file name."""

    call: str
    id: str
    path: str  # of the archived recording that it is part of
    purpose: Purpose
    offset_ms: int
    leg: str


def recording_name(
    destination: RecordingDestination, recording_id: str, leg: str, offset_ms: int
) -> str:
    """Return a recording's file name, of at most 255 characters."""
    call = recording_id.rpartition(".")[0]
    short_leg = re.sub(r"[^A-Za-z0-9_.\-]", "_", leg.removeprefix(f"{call}."))[:MAX_LEG_CHARS]
    return f"{destination.prefix}{recording_id}~{offset_ms}~{short_leg}"


def parse_recording_name(name: str) -> RecordingName | None:
    """Parse a file name; None when it is no recording of a call."""
    match = _NAME.fullmatch(name)
    if match is None:
        return None
    purpose = _KINDS[match["kind"]]
    basename = match["call"] if purpose == "call" else match["id"]
    path = f"{match['account']}/{match['day']}/{basename}.wav"
    leg = match["leg"] if "." in match["leg"] else f"{match['call']}.{match['leg']}"
    return RecordingName(match["call"], match["id"], path, purpose, int(match["offset"]), leg)
