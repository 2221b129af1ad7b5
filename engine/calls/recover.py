"""Taking a call up again: what the PBX shows, compared with what was stored, as ordinary events.

One path for a crash, a takeover and a lost websocket (design section 3.6).
"""

from collections.abc import Iterable

from msgspec import Struct

from engine.calls import causes
from engine.calls.call import Call, expects
from engine.calls.commands import (
    Answer,
    Bridge,
    Command,
    Leave,
    Originate,
    Play,
    Ring,
    Snoop,
    StartMessage,
    StartMusic,
    StartRinging,
)
from engine.calls.doing import Recording
from engine.calls.events import (
    DigitPressed,
    Event,
    LegAnswered,
    LegEnded,
    LegPlaced,
    LegRang,
    MessageEnded,
    PlaybackEnded,
    Recovered,
)
from engine.calls.keys import after_prompts, counting
from engine.calls.leg import Leg
from engine.calls.playbacks import prompts, tunes
from engine.calls.seating import OUTSIDE, seats


class Seen(Struct, frozen=True):
    """What a PBX shows: channels by state (`Up`, …), live playbacks and messages, bridges' members.

    `called`: of the legs that are still `Down`, those whose party has been called.
    """

    channels: dict[str, str]
    playbacks: frozenset[str] = frozenset()
    bridges: dict[str, tuple[str, ...]] = {}
    called: frozenset[str] = frozenset()
    messages: frozenset[str] = frozenset()


def message_of(call: Call) -> str | None:
    """Name the message that is being recorded, if one is."""
    match call.doing:
        case Recording(tape=tape, request=""):
            return tape
        case _:
            return None


def missed(
    call: Call,
    outbox: tuple[Command, ...],
    seen: Seen,
    now: int,
    keys: tuple[DigitPressed, ...] = (),
) -> tuple[tuple[Command, ...], tuple[Event, ...]]:
    """Tell which stored commands to do again, and which events happened while nobody watched.

    `keys`: those that the call lacks, as other ears heard them.
    """
    events: list[Event] = [*counting(call, keys)]
    for leg in call.legs:
        events += _leg(call, leg, seen, outbox)
    events += _snoops(call, seen, outbox)
    events += _playbacks(call, outbox, seen, now)
    events += _rounds(call, outbox, seen)
    events += _message(call, outbox, seen)
    events += after_prompts(call, keys, events)
    redo = tuple(command for command in outbox if _still_due(command, call, seen, now))
    return redo, (*events, Recovered(_members(call, seen)))


def rung_by(outbox: Iterable[Command]) -> tuple[str, ...]:
    """Name the legs whose party may or may not have been called."""
    return tuple(each.leg for each in outbox if isinstance(each, Ring))


def _leg(call: Call, leg: Leg, seen: Seen, outbox: tuple[Command, ...]) -> list[Event]:
    state = seen.channels.get(leg.id)
    if state is None:
        unsent = _is_requested(call, leg.id) and any(_makes(each, leg) for each in outbox)
        return [] if unsent and expects(call, leg.id) else [LegEnded(leg.id, causes.LOST)]
    if state == "Up":
        return [] if leg.state == "up" else [LegAnswered(leg.id)]
    if state == "Ringing" and leg.state in {"requested", "placed"}:
        return [LegRang(leg.id)]
    # Placed, and its party not called: told again, as its time to ring begins only now.
    uncalled = any(_calls(each, leg) for each in outbox) and leg.id not in seen.called
    return [LegPlaced(leg.id)] if leg.state == "requested" or uncalled else []


def _is_requested(call: Call, leg_id: str) -> bool:
    """Tell whether a leg may be made again: none was, so its party was not called."""
    leg = call.leg(leg_id)
    return leg is not None and leg.state == "requested"


def _makes(command: Command, leg: Leg) -> bool:
    return isinstance(command, Originate) and command.leg == leg.id


def _calls(command: Command, leg: Leg) -> bool:
    return isinstance(command, Ring) and command.leg == leg.id


def _playbacks(call: Call, outbox: tuple[Command, ...], seen: Seen, now: int) -> list[Event]:
    events: list[Event] = []
    for playback, ends_ms in prompts(call).items():
        unsent = now < ends_ms and any(_plays(each, playback) for each in outbox)
        if playback not in seen.playbacks and not unsent:
            events.append(PlaybackEnded(playback))
    return events


def _rounds(call: Call, outbox: tuple[Command, ...], seen: Seen) -> list[Event]:
    """Tell which rounds of tunes have ended."""
    over = (tune.playback for tune in tunes(call) if tune.playback not in seen.playbacks)
    return [PlaybackEnded(p) for p in over if not any(_plays(each, p) for each in outbox)]


def _message(call: Call, outbox: tuple[Command, ...], seen: Seen) -> list[Event]:
    name = message_of(call)
    if name is None or name in seen.messages:
        return []
    unsent = any(isinstance(each, StartMessage) and each.name == name for each in outbox)
    return [] if unsent else [MessageEnded(name)]


def _snoops(call: Call, seen: Seen, outbox: tuple[Command, ...]) -> list[Event]:
    """Tell which snoops have come and gone."""
    events: list[Event] = []
    for member in call.conference.members if call.conference else ():
        if member.snoop in seen.channels and not member.is_snooping:
            events.append(LegPlaced(member.snoop))
        elif member.snoop and member.snoop not in seen.channels:
            unsent = any(isinstance(c, Snoop) and c.snoop == member.snoop for c in outbox)
            events += [] if unsent else [LegEnded(member.snoop, causes.LOST)]
    return events


def _still_due(command: Command, call: Call, seen: Seen, now: int) -> bool:
    match command:
        case Originate(leg):
            is_made = leg in seen.channels or not _is_requested(call, leg)
            return not is_made and expects(call, leg)
        case Ring(leg):
            is_waiting = seen.channels.get(leg) == "Down" and leg not in seen.called
            return is_waiting and expects(call, leg)
        case Answer(leg):
            return seen.channels.get(leg) not in {None, "Up"}
        case Play(playback=playback):
            wanted = now < prompts(call).get(playback, 0)
            wanted = wanted or any(tune.playback == playback for tune in tunes(call))
            return wanted and playback not in seen.playbacks
        case StartMessage(name=name):
            return message_of(call) == name and name not in seen.messages
        case StartMusic(leg) | StartRinging(leg):
            # Into a conversation it would be heard until its end is told, and for an outage if not.
            sound = "music" if isinstance(command, StartMusic) else "ringing"
            return seats(call).get(leg, OUTSIDE).sound == sound
        case Snoop(snoop):
            coaches = call.conference.members if call.conference else ()
            return snoop not in seen.channels and any(each.snoop == snoop for each in coaches)
        case Leave(bridge, leg):
            # What a leg hears outside comes after it, and a prompt would hold it up.
            is_inside = leg in seen.bridges.get(bridge, ())
            return is_inside and seats(call).get(leg, OUTSIDE).bridge != bridge
        case Bridge():
            return False  # Recovered brings everybody to where they belong
        case _:
            return True


def _plays(command: Command, playback: str) -> bool:
    return isinstance(command, Play) and command.playback == playback


def _members(call: Call, seen: Seen) -> tuple[tuple[str, str], ...]:
    ours = {leg.id for leg in call.legs} | seats(call).keys()
    placed = ((leg, bridge) for bridge, legs in seen.bridges.items() for leg in legs)
    return tuple((leg, bridge) for leg, bridge in placed if leg in ours)
