"""Reconciles a stored call with a PBX snapshot: the differences become ordinary events.

One path for a crash, a takeover and a lost websocket (docs/architecture.md).
"""

from collections.abc import Iterable

from engine.calls.media.awaited_playbacks import active_prompts, playing_hold_music
from engine.calls.media.plan import desired_media, required_bridges
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
    LegReplaced,
    LegRinging,
    PlaybackEnded,
    Recovered,
    VoicemailEnded,
)
from engine.calls.model.leg import Leg
from engine.calls.model.stream_commands import StartStream
from engine.calls.recovery.missed_digits import collected_digits, digits_after_prompt
from engine.calls.recovery.missed_replacements import missed_replacements
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.pending_commands import is_stopped, should_retry
from wire.call_id_format import call_of


def reconcile(
    call: Call,
    outbox: tuple[Command, ...],
    snapshot: PbxSnapshot,
    now: int,
    digits: tuple[DigitPressed, ...] = (),
) -> tuple[tuple[Command, ...], tuple[Event, ...]]:
    """Return the stored commands to execute again, and the events that were missed.

    `digits`: those that the call lacks, as AMI logged them.
    """
    unseen = (*snapshot.finished, *outbox)  # what they start may not be in the snapshot
    prompts_ended = _prompt_events(call, unseen, snapshot, now)
    late = digits_after_prompt(call, digits, prompts_ended)
    events: list[Event] = [e for e in collected_digits(call, digits) if e not in late]
    replacements = missed_replacements(call, snapshot)
    for leg in call.legs:
        if leg.id in replacements:
            events.append(LegReplaced(replacements[leg.id], leg.id))
        else:
            events += _leg_events(call, leg, snapshot, outbox)
    events += _snoop_events(call, snapshot, unseen)
    events += _stream_events(call, snapshot, unseen)
    events += prompts_ended
    events += _hold_music_events(call, unseen, snapshot)
    events += _voicemail_events(call, unseen, snapshot)
    events += late
    retried = tuple(
        command
        for command in outbox
        if should_retry(command, call, snapshot, now) and not is_stopped(command, outbox)
    )
    bridged, left_over = _bridged_legs(call, snapshot), _left_over_bridges(call, unseen, snapshot)
    restarted = tuple(each.playback for each in retried if isinstance(each, Play))
    since_ms = snapshot.last_seen_ms
    uncontrolled_ms = max(0, now - since_ms) if since_ms else 0
    uncertain = tuple(
        each.playback
        for each in prompts_ended
        if any(_plays(command, each.playback) for command in unseen)
    )
    recovered = Recovered(
        bridged, left_over, restarted, snapshot.new_owner, uncontrolled_ms, uncertain
    )
    return retried, (*events, recovered)


def legs_being_dialled(outbox: Iterable[Command]) -> tuple[str, ...]:
    """Return the legs whose party may or may not have been called."""
    return tuple(each.leg for each in outbox if isinstance(each, Dial))


def _leg_events(
    call: Call, leg: Leg, snapshot: PbxSnapshot, outbox: tuple[Command, ...]
) -> list[Event]:
    state = snapshot.channels.get(leg.id)
    if state is None:
        unseen = (*snapshot.finished, *outbox)
        unsent = leg.state == "requested" and any(_originates(each, leg) for each in unseen)
        lost = LegEnded(leg.id, causes.LOST, seen_ms=snapshot.last_seen_ms)
        return [] if unsent and is_expected(call, leg.id) else [lost]
    if state == "Up":
        return [] if leg.state == "up" else [LegAnswered(leg.id)]
    if state == "Ringing" and leg.state in {"requested", "created"}:
        return [LegRinging(leg.id)]
    # Created, but its party is not called: repeat the event, as the ring time starts only now.
    not_dialed = any(_dials(each, leg) for each in outbox) and leg.id not in snapshot.dialed
    return [LegCreated(leg.id)] if leg.state == "requested" or not_dialed else []


def _originates(command: Command, leg: Leg) -> bool:
    return isinstance(command, Originate) and command.leg == leg.id


def _dials(command: Command, leg: Leg) -> bool:
    return isinstance(command, Dial) and command.leg == leg.id


def _prompt_events(
    call: Call, unseen: tuple[Command, ...], snapshot: PbxSnapshot, now: int
) -> list[PlaybackEnded]:
    events: list[PlaybackEnded] = []
    for playback, ends_ms in active_prompts(call).items():
        # One that may have been heard is over when its time is.
        begins = playback in snapshot.unsent or now < ends_ms
        is_unsent = begins and any(_plays(each, playback) for each in unseen)
        if playback not in snapshot.playbacks and not is_unsent:
            events.append(PlaybackEnded(playback))
    return events


def _hold_music_events(
    call: Call, unseen: tuple[Command, ...], snapshot: PbxSnapshot
) -> list[Event]:
    playbacks = (each.playback for each in playing_hold_music(call))
    ended = (each for each in playbacks if each not in snapshot.playbacks)
    return [PlaybackEnded(p) for p in ended if not any(_plays(each, p) for each in unseen)]


def _plays(command: Command, playback: str) -> bool:
    return isinstance(command, Play) and command.playback == playback


def _voicemail_events(
    call: Call, unseen: tuple[Command, ...], snapshot: PbxSnapshot
) -> list[Event]:
    name = call.state.active_voicemail
    if name is None or name in snapshot.voicemails:
        return []
    unsent = any(isinstance(each, StartVoicemail) and each.name == name for each in unseen)
    return [] if unsent else [VoicemailEnded(name)]


def _snoop_events(call: Call, snapshot: PbxSnapshot, unseen: tuple[Command, ...]) -> list[Event]:
    """Return the missed starts and ends of the snoops of coaches and forks."""
    events: list[Event] = []
    members = call.conference.members if call.conference else ()
    snoops = [(each.snoop, each.is_snooping) for each in members]
    snoops += [(each.snoop, each.is_snooping) for each in call.streams]
    for snoop, is_snooping in snoops:
        if snoop in snapshot.channels and not is_snooping:
            events.append(LegCreated(snoop))
        elif snoop and snoop not in snapshot.channels:
            unsent = any(isinstance(c, Snoop) and c.snoop == snoop for c in unseen)
            events += [] if unsent else [LegEnded(snoop, causes.LOST)]
    return events


def _stream_events(call: Call, snapshot: PbxSnapshot, unseen: tuple[Command, ...]) -> list[Event]:
    """Return the missed starts and ends of streams' channels."""
    events: list[Event] = []
    for stream in call.streams:
        if stream.channel == "requested" and snapshot.channels.get(stream.id) == "Up":
            events.append(LegCreated(stream.id))
        elif stream.channel != "ended" and stream.id not in snapshot.channels:
            unsent = any(isinstance(c, StartStream) and c.stream == stream.id for c in unseen)
            events += [] if unsent else [LegEnded(stream.id, causes.LOST)]
    return events


def _bridged_legs(call: Call, snapshot: PbxSnapshot) -> tuple[tuple[str, str], ...]:
    known = {leg.id for leg in call.legs} | desired_media(call).keys()
    bridged = ((leg, bridge) for bridge, legs in snapshot.bridges.items() for leg in legs)
    return tuple((leg, bridge) for leg, bridge in bridged if leg in known)


def _left_over_bridges(
    call: Call, unseen: tuple[Command, ...], snapshot: PbxSnapshot
) -> tuple[str, ...]:
    destroyed = {each.bridge for each in unseen if isinstance(each, DestroyBridge)}
    expected = destroyed | required_bridges(call)
    return tuple(b for b in snapshot.bridges if call_of(b) == call.id and b not in expected)
