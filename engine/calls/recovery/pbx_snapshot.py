"""A snapshot of a PBX node, which a recovery compares with the stored calls."""

from msgspec import Struct


class PbxSnapshot(Struct, frozen=True):
    """Channels by state (`Up`, …), active playbacks and voicemails, and bridges' members.

    `dialed`: the legs that are still `Down` although their party has been called.
    `held_by_phone`: of the legs that were known or reported as held by their phone, those that
    still are.
    """

    channels: dict[str, str]
    playbacks: frozenset[str] = frozenset()
    bridges: dict[str, tuple[str, ...]] = {}
    dialed: frozenset[str] = frozenset()
    voicemails: frozenset[str] = frozenset()
    held_by_phone: frozenset[str] = frozenset()
    last_seen_ms: int = 0  # when an engine last saw the PBX before; 0: just now
