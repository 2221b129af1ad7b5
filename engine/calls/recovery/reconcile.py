"""Taking a call up again: what the PBX shows, compared with what was stored, as ordinary events.

One path for a crash, a takeover and a lost websocket (design section 3.6).
"""

from collections.abc import Iterable

from engine.calls.media.plan import desired_media, required_bridges
from engine.calls.media.playbacks import active_prompts, playing_hold_music
from engine.calls.model import causes
from engine.calls.model.call import Call, is_expected
from engine.calls.model.commands import (
    Command,
    DestroyBridge,
    Dial,
    Originate,
    Play,
    Snoop,
    StartVoicemail,
)
from engine.calls.model.events import (
    DigitPressed,
    Event,
    LegAnswered,
    LegCreated,
    LegEnded,
    LegRinging,
    PlaybackEnded,
    Recovered,
    VoicemailEnded,
)
from engine.calls.model.ids import call_of
from engine.calls.model.leg import Leg
from engine.calls.recovery.dtmf import collected_digits, digits_after_prompts
from engine.calls.recovery.pending import active_voicemail, should_retry
from engine.calls.recovery.snapshot import PbxSnapshot


def reconcile(
    call: Call,
    outbox: tuple[Command, ...],
    seen: PbxSnapshot,
    now: int,
    keys: tuple[DigitPressed, ...] = (),
) -> tuple[tuple[Command, ...], tuple[Event, ...]]:
    """Tell which stored commands to do again, and which events happened while nobody watched.

    `keys`: those that the call lacks, as other ears heard them.
    """
    events: list[Event] = [*collected_digits(call, keys)]
    for leg in call.legs:
        events += _leg(call, leg, seen, outbox)
    events += _snoops(call, seen, outbox)
    events += _playbacks(call, outbox, seen, now)
    events += _rounds(call, outbox, seen)
    events += _message(call, outbox, seen)
    events += digits_after_prompts(call, keys, events)
    redo = tuple(command for command in outbox if should_retry(command, call, seen, now))
    return redo, (*events, Recovered(_members(call, seen), _left_over(call, outbox, seen)))


def legs_being_dialled(outbox: Iterable[Command]) -> tuple[str, ...]:
    """Name the legs whose party may or may not have been called."""
    return tuple(each.leg for each in outbox if isinstance(each, Dial))


def _leg(call: Call, leg: Leg, seen: PbxSnapshot, outbox: tuple[Command, ...]) -> list[Event]:
    state = seen.channels.get(leg.id)
    if state is None:
        unsent = leg.state == "requested" and any(_makes(each, leg) for each in outbox)
        return [] if unsent and is_expected(call, leg.id) else [LegEnded(leg.id, causes.LOST)]
    if state == "Up":
        return [] if leg.state == "up" else [LegAnswered(leg.id)]
    if state == "Ringing" and leg.state in {"requested", "created"}:
        return [LegRinging(leg.id)]
    # Placed, and its party not called: told again, as its time to ring begins only now.
    uncalled = any(_calls(each, leg) for each in outbox) and leg.id not in seen.dialed
    return [LegCreated(leg.id)] if leg.state == "requested" or uncalled else []


def _makes(command: Command, leg: Leg) -> bool:
    return isinstance(command, Originate) and command.leg == leg.id


def _calls(command: Command, leg: Leg) -> bool:
    return isinstance(command, Dial) and command.leg == leg.id


def _playbacks(call: Call, outbox: tuple[Command, ...], seen: PbxSnapshot, now: int) -> list[Event]:
    events: list[Event] = []
    for playback, ends_ms in active_prompts(call).items():
        unsent = now < ends_ms and any(_plays(each, playback) for each in outbox)
        if playback not in seen.playbacks and not unsent:
            events.append(PlaybackEnded(playback))
    return events


def _rounds(call: Call, outbox: tuple[Command, ...], seen: PbxSnapshot) -> list[Event]:
    """Tell which rounds of tunes have ended."""
    over = (
        tune.playback for tune in playing_hold_music(call) if tune.playback not in seen.playbacks
    )
    return [PlaybackEnded(p) for p in over if not any(_plays(each, p) for each in outbox)]


def _plays(command: Command, playback: str) -> bool:
    return isinstance(command, Play) and command.playback == playback


def _message(call: Call, outbox: tuple[Command, ...], seen: PbxSnapshot) -> list[Event]:
    name = active_voicemail(call)
    if name is None or name in seen.voicemails:
        return []
    unsent = any(isinstance(each, StartVoicemail) and each.name == name for each in outbox)
    return [] if unsent else [VoicemailEnded(name)]


def _snoops(call: Call, seen: PbxSnapshot, outbox: tuple[Command, ...]) -> list[Event]:
    """Tell which snoops have come and gone."""
    events: list[Event] = []
    for member in call.conference.members if call.conference else ():
        if member.snoop in seen.channels and not member.is_snooping:
            events.append(LegCreated(member.snoop))
        elif member.snoop and member.snoop not in seen.channels:
            unsent = any(isinstance(c, Snoop) and c.snoop == member.snoop for c in outbox)
            events += [] if unsent else [LegEnded(member.snoop, causes.LOST)]
    return events


def _members(call: Call, seen: PbxSnapshot) -> tuple[tuple[str, str], ...]:
    ours = {leg.id for leg in call.legs} | desired_media(call).keys()
    placed = ((leg, bridge) for bridge, legs in seen.bridges.items() for leg in legs)
    return tuple((leg, bridge) for leg, bridge in placed if leg in ours)


def _left_over(call: Call, outbox: tuple[Command, ...], seen: PbxSnapshot) -> tuple[str, ...]:
    going = {each.bridge for each in outbox if isinstance(each, DestroyBridge)}
    wanted = going | required_bridges(call)
    return tuple(b for b in seen.bridges if call_of(b) == call.id and b not in wanted)
