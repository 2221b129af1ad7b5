"""What brings legs from the seats they have to those they are to have (`seating`).

Always in this order: sounds end, mutes change, legs leave, legs join, sounds begin, bridges go.
A leg that is still in a bridge when it is destroyed may lose the next prompt (docs/asterisk.md).
"""

from collections.abc import Iterable, Iterator

from engine.calls.media.plan import OUTSIDE, Seat, Sound, rooms, seats
from engine.calls.model.call import Call
from engine.calls.model.commands import (
    Bridge,
    Command,
    DestroyBridge,
    Leave,
    Mute,
    Play,
    StartMusic,
    StartRinging,
    StopMusic,
    StopPlayback,
    StopRinging,
    Unmute,
)
from engine.calls.model.leg import Muted
from engine.calls.model.sessions import Tune
from engine.calls.model.state import (
    Asking,
    Detecting,
    Doing,
    Gathering,
    Playing,
    Recording,
    Starting,
)

# In these the main leg is outside and hears what its verb lets it hear.
_APART = (Starting, Playing, Gathering, Detecting, Asking, Recording)


def moves(before: Call, after: Call) -> tuple[Command, ...]:
    """Ask for what makes the seats of `after` true where those of `before` are."""
    if _is_same(before, after):
        return ()
    old, new = seats(before), seats(after)
    left = rooms(before) - rooms(after)
    if old == new and not left:
        return ()
    changed = [(leg, old.get(leg, OUTSIDE), seat) for leg, seat in new.items()]
    changed = [each for each in changed if each[1] != each[2]]
    return (*_changes(changed), *map(DestroyBridge, sorted(left)))


def reseat(call: Call, seen: Iterable[tuple[str, str]]) -> tuple[Command, ...]:
    """Ask for what brings legs to their bridges from where they were seen: (leg, bridge)."""
    found = dict(seen)
    new = seats(call)
    old = {leg: Seat(found.get(leg, ""), seat.sound, seat.muted) for leg, seat in new.items()}
    return tuple(_changes([(leg, old[leg], seat) for leg, seat in new.items()]))


def _is_same(before: Call, after: Call) -> bool:
    """Spare the usual step, which moves nobody, a closer look."""
    if before.legs is not after.legs or before.main is not after.main:
        return False
    if before.doing is not after.doing:
        return _is_apart(before.doing) and _is_apart(after.doing)
    return before.transfers is after.transfers and before.conferences is after.conferences


def _is_apart(doing: Doing) -> bool:
    return isinstance(doing, _APART) and not (isinstance(doing, Asking) and doing.has_music)


def _changes(changed: list[tuple[str, Seat, Seat]]) -> Iterator[Command]:
    for leg, old, new in changed:
        if old.sound != new.sound:
            yield from _silenced(leg, old.sound)
        yield from _muted(leg, old.muted, new.muted)
        if old.bridge and not new.bridge:  # into another bridge it goes by itself
            yield Leave(old.bridge, leg)
    joined: dict[str, list[str]] = {}
    for leg, old, new in changed:
        if new.bridge not in {"", old.bridge}:
            joined.setdefault(new.bridge, []).append(leg)
    yield from (Bridge(bridge, tuple(legs)) for bridge, legs in joined.items())
    for leg, old, new in changed:
        if old.sound != new.sound:
            yield from _entertained(leg, new.sound)


def _silenced(leg: str, sound: Sound) -> Iterator[Command]:
    match sound:
        case "music":
            yield StopMusic(leg)
        case "ringing":
            yield StopRinging(leg)
        case Tune(playback=playback):
            yield StopPlayback(playback)


def _entertained(leg: str, sound: Sound) -> Iterator[Command]:
    match sound:
        case "music":
            yield StartMusic(leg)
        case "ringing":
            yield StartRinging(leg)
        case Tune(playback=playback, clips=clips):
            yield Play(leg, playback, clips)


def _muted(leg: str, old: Muted, new: Muted) -> Iterator[Command]:
    if old == new:
        return
    if old:
        yield Unmute(leg, old)
    if new:
        yield Mute(leg, new)
