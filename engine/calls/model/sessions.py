"""Sessions of a live call as data: transfers and conferences.

`sessions.transfer` and `sessions.conference` change them; `media.plan` derives bridges and sounds.
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
TargetReason = Literal[
    "target_hangup", "target_busy", "target_no_answer", "target_reject", "target_unavailable"
]
MemberReason = Literal[
    "hangup", "left", "kicked", "busy", "no_answer", "rejected", "unavailable", "conference_ended"
]
SessionEnd = Literal["call_ended", "conversation_ended"]
ConferenceReason = SessionEnd | Literal["transfer", "too_few_members"]

# The transitions of each state; the diagrams in docs/sessions.md are drawn from these.
_UNSUCCESSFUL: tuple[TransferState, ...] = ("canceled", "failed", "abandoned")
TRANSFER_MOVES: dict[TransferState, tuple[TransferState, ...]] = {
    "starting": ("ringback", "answered", "blind_transferred", *_UNSUCCESSFUL),
    "ringback": ("answered", "blind_transferred", *_UNSUCCESSFUL),
    "answered": ("completed", *_UNSUCCESSFUL),
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
    """Custom hold music of a session: clips in a loop; empty until they are fetched."""

    request: str  # that fetches the clips
    playback: str = ""  # of the current loop
    clips: tuple[Clip, ...] = ()


class Transfer(Struct, frozen=True, array_like=True):
    """A transfer of the customer from the source to the target; the three are leg ids.

    Attended: the source talks to the target first. Blind: the source leaves when the target rings,
    and the customer waits for the target alone. A source that sent REFER stays until the answer.
    Times are wall-clock milliseconds.
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
    is_referred: bool = False  # by a REFER of the source, which is notified of the outcome

    @property
    def is_live(self) -> bool:
        """Whether its state can still change."""
        return self.state in TRANSFER_MOVES


class Member(Struct, frozen=True, array_like=True):
    """One party of a conference; a coach is heard only by the leg in `coaches`, through a snoop."""

    leg: str
    party: str
    state: MemberState
    agent_id: str = ""
    name: str = ""
    reason: MemberReason | Literal[""] = ""
    coaches: str = ""
    snoop: str = ""
    is_snooping: bool = False  # the snoop channel exists
    joined_ms: int = 0
    left_ms: int = 0
    removed_by: str = ""  # agent who removed it, or who left with it

    @property
    def is_live(self) -> bool:
        """Whether it is in the conference or being called into it."""
        return self.state in MEMBER_MOVES


class Conference(Struct, frozen=True, array_like=True):
    """A conference; it is live while it has two members, or one who waits for another."""

    id: str
    members: tuple[Member, ...]
    started_ms: int
    state: ConferenceState = "init"
    requested_by: str = ""
    reason: ConferenceReason | Literal[""] = ""
    ended_ms: int = 0
    hold_music: HoldMusic | None = None  # of a member who waits
    customer: str = ""  # leg that waits until the leg `awaited` has joined
    awaited: str = ""

    @property
    def is_live(self) -> bool:
        """Whether its state can still change."""
        return self.state != "completed"

    def member(self, leg: str) -> Member | None:
        """Return the live member with this leg."""
        return next((each for each in self.members if each.leg == leg and each.is_live), None)
