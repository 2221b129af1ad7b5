"""What brings legs from the seats they have to those they are to have (`seating`).

Always in this order: sounds end, mutes change, legs leave, legs join, sounds begin, bridges go.
A leg that is still in a bridge when it is destroyed may lose the next prompt (docs/asterisk.md).
"""

from collections.abc import Iterable, Iterator

from engine.calls.media.plan import UNBRIDGED, LegMedia, Sound, desired_media, required_bridges
from engine.calls.model.call import Call
from engine.calls.model.commands import (
    AddToBridge,
    Command,
    DestroyBridge,
    Mute,
    Play,
    RemoveFromBridge,
    StartHoldMusic,
    StartRinging,
    StopHoldMusic,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.leg import Muted
from engine.calls.model.sessions import HoldMusic
from engine.calls.model.state import (
    AwaitingInstructions,
    CallState,
    Detecting,
    Gathering,
    Playing,
    RecordingVoicemail,
    Starting,
)

# In these the main leg is outside and hears what its verb lets it hear.
_APART = (Starting, Playing, Gathering, Detecting, AwaitingInstructions, RecordingVoicemail)


def diff_media(before: Call, after: Call) -> tuple[Command, ...]:
    """Ask for what makes the seats of `after` true where those of `before` are."""
    if _is_same(before, after):
        return ()
    old, new = desired_media(before), desired_media(after)
    left = required_bridges(before) - required_bridges(after)
    if old == new and not left:
        return ()
    changed = [(leg, old.get(leg, UNBRIDGED), seat) for leg, seat in new.items()]
    changed = [each for each in changed if each[1] != each[2]]
    return (*_changes(changed), *map(DestroyBridge, sorted(left)))


def restore_media(call: Call, seen: Iterable[tuple[str, str]]) -> tuple[Command, ...]:
    """Ask for what brings legs to their bridges from where they were seen: (leg, bridge)."""
    found = dict(seen)
    new = desired_media(call)
    old = {leg: LegMedia(found.get(leg, ""), seat.sound, seat.muted) for leg, seat in new.items()}
    return tuple(_changes([(leg, old[leg], seat) for leg, seat in new.items()]))


def _is_same(before: Call, after: Call) -> bool:
    """Spare the usual step, which moves nobody, a closer look."""
    if before.legs is not after.legs or before.main is not after.main:
        return False
    if before.state is not after.state:
        return _is_apart(before.state) and _is_apart(after.state)
    return before.transfers is after.transfers and before.conferences is after.conferences


def _is_apart(doing: CallState) -> bool:
    return isinstance(doing, _APART) and not (
        isinstance(doing, AwaitingInstructions) and doing.has_music
    )


def _changes(changed: list[tuple[str, LegMedia, LegMedia]]) -> Iterator[Command]:
    for leg, old, new in changed:
        if old.sound != new.sound:
            yield from _stop_sound(leg, old.sound)
        yield from _muted(leg, old.muted, new.muted)
        if old.bridge and not new.bridge:  # into another bridge it goes by itself
            yield RemoveFromBridge(old.bridge, leg)
    joined: dict[str, list[str]] = {}
    for leg, old, new in changed:
        if new.bridge not in {"", old.bridge}:
            joined.setdefault(new.bridge, []).append(leg)
    yield from (AddToBridge(bridge, tuple(legs)) for bridge, legs in joined.items())
    for leg, old, new in changed:
        if old.sound != new.sound:
            yield from _start_sound(leg, new.sound)


def _stop_sound(leg: str, sound: Sound) -> Iterator[Command]:
    match sound:
        case "music":
            yield StopHoldMusic(leg)
        case "ringing":
            yield StopRinging(leg)
        case HoldMusic(playback=playback):
            yield StopPlayback(playback)


def _start_sound(leg: str, sound: Sound) -> Iterator[Command]:
    match sound:
        case "music":
            yield StartHoldMusic(leg)
        case "ringing":
            yield StartRinging(leg)
        case HoldMusic(playback=playback, clips=clips):
            yield Play(leg, playback, clips)


def _muted(leg: str, old: Muted, new: Muted) -> Iterator[Command]:
    if old == new:
        return
    if old:
        yield Unmute(leg, old)
    if new:
        yield Mute(leg, new)
