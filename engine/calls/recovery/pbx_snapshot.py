"""A snapshot of a PBX node, which a recovery compares with the stored calls."""

from msgspec import Struct

from engine.calls.model.commands import Command


class Stranger(Struct, frozen=True):
    """An answered channel in the app of the calls that belongs to none of them."""

    dialled: str  # by the caller that entered the app with it, or whose place it has taken
    created_ms: int  # by the PBX's clock


class PbxSnapshot(Struct, frozen=True):
    """Channels by state (`Up`, …), active playbacks and voicemails, and bridges' members.

    `dialed`: the legs that are still `Down` although their party has been called.
    `unsent`: playbacks that this engine has certainly not requested yet.
    `finished`: the commands of the call that were acknowledged while the snapshot was taken, which
    may not show what they have started.
    `replaced`: the legs that are known to be replaced, each with the channel in its place.
    `new_owner`: the engine that has taken the calls over; empty if it had them before.
    """

    channels: dict[str, str]
    playbacks: frozenset[str] = frozenset()
    bridges: dict[str, tuple[str, ...]] = {}
    dialed: frozenset[str] = frozenset()
    voicemails: frozenset[str] = frozenset()
    unsent: frozenset[str] = frozenset()
    finished: tuple[Command, ...] = ()
    replaced: dict[str, str] = {}
    strangers: dict[str, Stranger] = {}
    last_seen_ms: int = 0  # when an engine last saw the PBX before; 0: just now
    new_owner: str = ""
