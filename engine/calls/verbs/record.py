"""record: a message of whoever is on the main leg, until a key, silence, or the longest time.

Its prompt and beep are played as `play` plays; what is left of the verb then begins here. Why a
recording has ended shows a moment after its end: a key is told, or the leg is gone.
"""

from msgspec.json import encode as to_json
from msgspec.structs import replace

from engine.calls.media import call_recording
from engine.calls.model.call import Call, Step, numbered
from engine.calls.model.commands import Command, StartMessage, StopMessage
from engine.calls.model.events import (
    DeadlinePassed,
    DigitPressed,
    Event,
    MessageEnded,
    Recovered,
    TapesFiled,
)
from engine.calls.model.io_commands import AskWebhook
from engine.calls.model.recording import Tape
from engine.calls.model.state import Asking, Next, Recording
from engine.calls.reporting.call_events import tape_facts, tell
from engine.calls.session_end import freed
from engine.calls.verbs import play
from engine.calls.verbs.instructions import WEBHOOK_MS
from wire.verbs import Record
from wire.webhooks import RecordReason, RecordResult

STOP_MS = 1_000  # within this it has ended that was told to
SETTLE_MS = 200  # within this the reason of an end shows
FILED_MS = 5_000  # the caller waits: what takes longer is filed all the same


def start(call: Call, verb: Record, now: int) -> Step:
    """Play its prompt and beep, or, when they have been heard, begin to record.

    Without an archive go on at once.
    """
    if call.archive is not None and play.sources(verb):
        return play.start(call, verb, now)
    if call.archive is None:
        return _go_on(call, verb, "failed", None, now)
    call, told = freed(call, call.main, now)  # nobody leaves a message on hold
    call, tape = call_recording.begun(call, call.main, "voicemail", now)
    data = verb.data
    doing = Recording(verb, tape.name, now, now + data.max_length * 1000)
    command = StartMessage(call.main, tape.name, data.max_length, data.silence, data.terminator)
    return replace(call, doing=doing), (*told, command)


def on_event(call: Call, doing: Recording, event: Event, now: int) -> Step:
    """Follow the message to its end, then to the archive."""
    match event:
        case DigitPressed(leg, digit) if leg == call.main and digit == doing.verb.data.terminator:
            return _stopped(call, doing, "terminator", now)
        case MessageEnded(name, failed) if name == doing.tape and not doing.request:
            return _ended(call, replace(doing, reason="failed") if failed else doing, now)
        case TapesFiled(request) if request == doing.request:
            return _filed(call, doing, now)
        case Recovered() if doing.request:
            return replace(call, doing=replace(doing, deadline_ms=now + FILED_MS)), ()
        case DeadlinePassed() if doing.request or doing.reason:
            return _finish(call, doing, now)  # one that has not ended yet is filed with the call
        case DeadlinePassed():
            return _stopped(call, doing, "max-length", now)
        case _:
            return call, ()


def abandon(call: Call, doing: Recording, now: int) -> Step:
    """Tell of the message of a caller who hung up: it is kept; nobody waits for the answer."""
    return _told(call, doing.verb, doing.reason or "hangup", _tape(call, doing), now)


def _stopped(call: Call, doing: Recording, reason: RecordReason, now: int) -> Step:
    if doing.reason:
        return call, ()
    doing = replace(doing, reason=reason)
    if doing.request:
        return replace(call, doing=doing), ()
    stopping = replace(doing, deadline_ms=now + STOP_MS)
    return replace(call, doing=stopping), (StopMessage(doing.tape),)


def _ended(call: Call, doing: Recording, now: int) -> Step:
    call, command = call_recording.filed(call, (doing.tape,))
    filing = replace(doing, request=command.request, ended_ms=now, deadline_ms=now + FILED_MS)
    return replace(call, doing=filing), (command,)


def _filed(call: Call, doing: Recording, now: int) -> Step:
    shows_ms = doing.ended_ms + SETTLE_MS
    if doing.reason or now >= shows_ms:
        return _finish(call, doing, now)
    return replace(call, doing=replace(doing, deadline_ms=shows_ms)), ()


def _finish(call: Call, doing: Recording, now: int) -> Step:
    is_full = doing.ended_ms - doing.began_ms >= doing.verb.data.max_length * 1000
    reason = doing.reason or ("max-length" if is_full else "silence")
    return _go_on(call, doing.verb, reason, _tape(call, doing), now)


def _go_on(call: Call, verb: Record, reason: RecordReason, tape: Tape | None, now: int) -> Step:
    call, commands = _told(call, verb, reason, tape, now)
    if not isinstance(verb.action, str):
        return replace(call, doing=Next(verb.action, "record")), commands
    asked = next(each for each in commands if isinstance(each, AskWebhook))
    return replace(call, doing=Asking(asked.request, now + WEBHOOK_MS)), commands


def _told(
    call: Call, verb: Record, reason: RecordReason, tape: Tape | None, now: int
) -> tuple[Call, tuple[Command, ...]]:
    facts = tape_facts(call, tape) if tape and tape.state != "lost" else {}
    call, told = tell(call, "recorded", now, channel_id=call.main, reason=reason, **facts)
    if not isinstance(verb.action, str):
        return call, (told,)
    call, request = numbered(call, "r")
    result = RecordResult(
        call_id=call.id,
        channel_id=call.main,
        reason=reason,
        event="record",
        recording_url=facts.get("recording_url"),
        recording_purpose="voicemail",
        duration=facts.get("recording_duration"),
        custom_data=call.custom_data,
    )
    return call, (told, AskWebhook(request, verb.action, to_json(result)))


def _tape(call: Call, doing: Recording) -> Tape:
    return next(each for each in call.tapes if each.name == doing.tape)
