"""The commands that bring each leg from its previous media to its desired media (`media.plan`).

Their order: stop sounds, change mutes, leave bridges, join bridges, start sounds, destroy bridges.
A leg that is still in a bridge when it is destroyed may lose the next prompt (docs/asterisk.md).
"""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from engine.calls.media.plan import (
    UNBRIDGED,
    LegMedia,
    Sound,
    desired_media,
    have_same_media,
    required_bridges,
)
from engine.calls.model.call import Call
from engine.calls.model.call_states import AwaitingInstructions, CallState, UnbridgedState
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


def diff_media(before: Call, after: Call) -> tuple[Command, ...]:
    """Return the commands that turn the media of `before` into the media of `after`."""
    if _is_unchanged(before, after):
        return ()
    old, new = desired_media(before), desired_media(after)
    unused = required_bridges(before) - required_bridges(after)
    if old == new and not unused:
        return ()
    changed = [(leg, old.get(leg, UNBRIDGED), media) for leg, media in new.items()]
    changed = [each for each in changed if each[1] != each[2]]
    return (*_commands(changed), *map(DestroyBridge, sorted(unused)))


def restore_media(call: Call, bridged: Iterable[tuple[str, str]]) -> tuple[Command, ...]:
    """Return the commands that move legs from their actual bridges (leg, bridge) to the desired."""
    actual = dict(bridged)
    new = desired_media(call)
    old = {leg: replace(media, bridge=actual.get(leg, "")) for leg, media in new.items()}
    return tuple(_commands([(leg, old[leg], media) for leg, media in new.items()]))


def _is_unchanged(before: Call, after: Call) -> bool:
    """Return whether media can't have changed: the fast path of most steps."""
    if before.streams is not after.streams:
        return False
    if before.main is not after.main or not have_same_media(before.legs, after.legs):
        return False
    if before.state is not after.state:
        return _is_unbridged(before.state) and _is_unbridged(after.state)
    return before.transfers is after.transfers and before.conferences is after.conferences


def _is_unbridged(state: CallState) -> bool:
    return isinstance(state, UnbridgedState) and not (
        isinstance(state, AwaitingInstructions) and state.has_music
    )


def _commands(changed: list[tuple[str, LegMedia, LegMedia]]) -> Iterator[Command]:
    for leg, old, new in changed:
        if old.sound != new.sound:
            yield from _stop_sound(leg, old.sound)
        yield from _change_mute(leg, old.muted, new.muted)
        if old.bridge and not new.bridge:  # joining another bridge moves it
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
        case "":
            pass


def _start_sound(leg: str, sound: Sound) -> Iterator[Command]:
    match sound:
        case "music":
            yield StartHoldMusic(leg)
        case "ringing":
            yield StartRinging(leg)
        case HoldMusic(playback=playback, clips=clips):
            yield Play(leg, playback, clips)
        case "":
            pass


def _change_mute(leg: str, old: Muted, new: Muted) -> Iterator[Command]:
    if old == new:
        return
    if old:
        yield Unmute(leg, old)
    if new:
        yield Mute(leg, new)
