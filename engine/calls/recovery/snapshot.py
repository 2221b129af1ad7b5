"""What a PBX shows at one moment, as a recovery compares it with what was stored."""

from msgspec import Struct


class PbxSnapshot(Struct, frozen=True):
    """What a PBX shows: channels by state (`Up`, …), live playbacks and messages, bridges' members.

    `called`: of the legs that are still `Down`, those whose party has been called.
    """

    channels: dict[str, str]
    playbacks: frozenset[str] = frozenset()
    bridges: dict[str, tuple[str, ...]] = {}
    dialed: frozenset[str] = frozenset()
    voicemails: frozenset[str] = frozenset()
