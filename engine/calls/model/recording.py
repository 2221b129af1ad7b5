"""A tape: what one leg said and heard for a while, in a file of the PBX; and where it is filed.

The file's name says all that is needed to file it, also when nobody remembers the call:
`{account}~{day}~{call}.k{n}~{began}~{leg}`: `k` is of a call, in stereo, `v` a message, in mono.
Of a leg that we called the name has the end only, as its beginning is the call's id.
"""

import re
from typing import Literal

from msgspec import Struct

from engine.calls.model.ids import CALL_ID

Purpose = Literal["call", "voicemail"]
RecordingState = Literal["running", "ended", "archived", "lost"]
MAX_LEG_CHARS = 64  # of a leg in a name
CHANNELS: dict[Purpose, int] = {"call": 2, "voicemail": 1}
_KINDS: dict[str, Purpose] = {"k": "call", "v": "voicemail"}
_NAME = re.compile(
    r"(?P<account>[A-Za-z0-9_\-]{1,64})~(?P<day>[0-9]{4}-[0-9]{2}-[0-9]{2})"
    rf"~(?P<id>(?P<call>{re.sub(r'[?]P<[a-z]+>', '?:', CALL_ID.pattern)})\.(?P<kind>[kv])[0-9]+)"
    r"~(?P<began>[0-9]{1,15})~(?P<leg>[A-Za-z0-9_.\-]{1,64})"
)


class Recording(Struct, frozen=True, array_like=True):
    """One tape of a call; times in wall-clock milliseconds."""

    name: str
    leg: str
    purpose: Purpose
    started_ms: int
    state: RecordingState = "running"
    muted: bool = False
    archive_request: str = ""  # the request to file it
    duration_ms: int = 0  # of the whole recording, once it is filed


class RecordingDestination(Struct, frozen=True, array_like=True):
    """Where a call's recordings go, chosen when it begins: an address, and a folder below it."""

    base: str  # ends with a slash
    folder: str  # account/day

    @property
    def prefix(self) -> str:
        """What the names of the call's tapes begin with."""
        return self.folder.replace("/", "~") + "~"


class RecordingName(Struct, frozen=True):
    """What the name of a tape's file says."""

    call: str
    id: str
    path: str  # of the recording that it is filed in
    purpose: Purpose
    started_ms: int
    leg: str


def recording_name(archive: RecordingDestination, tape_id: str, leg: str, began_ms: int) -> str:
    """Name the file of a tape; a name has 255 characters at most."""
    call = tape_id.rpartition(".")[0]
    short = re.sub(r"[^A-Za-z0-9_.\-]", "_", leg.removeprefix(f"{call}."))
    return f"{archive.prefix}{tape_id}~{began_ms}~{short[:MAX_LEG_CHARS]}"


def parse_recording_name(name: str) -> RecordingName | None:
    """Read a file's name; None when it is no tape of ours."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    purpose = _KINDS[found["kind"]]
    filed_as = found["call"] if purpose == "call" else found["id"]
    path = f"{found['account']}/{found['day']}/{filed_as}.wav"
    leg = found["leg"] if "." in found["leg"] else f"{found['call']}.{found['leg']}"
    return RecordingName(found["call"], found["id"], path, purpose, int(found["began"]), leg)
