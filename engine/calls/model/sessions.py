"""What people do with a live call, as data: a transfer of a party, a conference of several.

The machines that move them are `transfer` and `conference`; who hears whom follows in `seating`.
"""

from typing import Literal

from msgspec import Struct

from wire.media import Clip

TransferMode = Literal["blind", "attended"]
TransferState = Literal[
    "starting",
    "ringback",
    "answered",
    "completed",
    "blind_transferred",
    "canceled",
    "failed",
    "abandoned",
]
ConferenceState = Literal["init", "in-progress", "completed"]
MemberState = Literal["queued", "connecting", "ringing", "connected", "complete", "failed"]

# Where each state may lead; the diagrams in docs/sessions.md are drawn from these.
_UNDONE: tuple[TransferState, ...] = ("canceled", "failed", "abandoned")
TRANSFER_MOVES: dict[TransferState, tuple[TransferState, ...]] = {
    "starting": ("ringback", "answered", "blind_transferred", *_UNDONE),
    "ringback": ("answered", "blind_transferred", *_UNDONE),
    "answered": ("completed", *_UNDONE),
}
CONFERENCE_MOVES: dict[ConferenceState, tuple[ConferenceState, ...]] = {
    "init": ("in-progress", "completed"),
    "in-progress": ("completed",),
}
MEMBER_MOVES: dict[MemberState, tuple[MemberState, ...]] = {
    "queued": ("connecting", "ringing", "connected", "failed"),
    "connecting": ("ringing", "connected", "failed"),
    "ringing": ("connected", "failed"),
    "connected": ("complete",),
}


class HoldMusic(Struct, frozen=True, array_like=True):
    """Music of one's own for who waits: clips in a loop; none yet while they are fetched."""

    request: str  # of the fetch
    playback: str = ""  # of the round that is heard now
    clips: tuple[Clip, ...] = ()


class Transfer(Struct, frozen=True, array_like=True):
    """One party of a conversation is handed to a new one; legs by id, times in milliseconds.

    In an attended one the source talks to the target first; in a blind one it is gone, and the
    customer waits for the target alone.
    """

    id: str
    mode: TransferMode
    source: str
    customer: str
    target: str
    party: str
    started_ms: int
    state: TransferState = "starting"
    reason: str = ""
    source_agent: str = ""
    target_name: str = ""
    ended_by: str = ""
    ended_ms: int = 0
    hold_music: HoldMusic | None = None

    @property
    def is_live(self) -> bool:
        """Whether it can still change."""
        return self.state in TRANSFER_MOVES


class Member(Struct, frozen=True, array_like=True):
    """One party of a conference; `coaches` names the leg that alone hears it, by a snoop on it."""

    leg: str
    party: str
    state: MemberState
    agent_id: str = ""
    name: str = ""
    reason: str = ""
    coaches: str = ""
    snoop: str = ""
    is_snooping: bool = False  # the snoop is there and can be used
    joined_ms: int = 0
    left_ms: int = 0

    @property
    def is_live(self) -> bool:
        """Whether it is in the conference or on its way there."""
        return self.state in MEMBER_MOVES


class Conference(Struct, frozen=True, array_like=True):
    """A conversation of several; it lives while two remain, or one waits for another."""

    id: str
    members: tuple[Member, ...]
    started_ms: int
    state: ConferenceState = "init"
    requested_by: str = ""
    reason: str = ""
    ended_ms: int = 0
    hold_music: HoldMusic | None = None  # for one who waits alone

    @property
    def is_live(self) -> bool:
        """Whether it can still change."""
        return self.state != "completed"

    def member(self, leg: str) -> Member | None:
        """Find the live member of a leg."""
        return next((each for each in self.members if each.leg == leg and each.is_live), None)
