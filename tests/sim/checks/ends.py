"""Every call ends once, its log leads to its stored state, and nothing is left on the PBX.

No log is longer than it may be, and only a call with such a log is ended for it.

Nor in its outbox: each webhook reaches its server at least once.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from engine.calls.model import causes
from engine.calls.model.call_states import Ended, Ending
from engine.calls.model.commands import AddToBridge, Originate, Play, Snoop
from engine.calls.model.events import LegAnswered, LegCreated, LegRinging, Recovered
from engine.calls.model.io_commands import SendWebhook
from engine.calls.model.stream_commands import StartStream
from engine.calls.states import deadline_ms
from engine.store.writer import QUIET_DELAY_S
from tests.sim.call_histories import CallHistory
from tests.sim.world_view import WorldView
from wire.call_id_format import call_of

LATE_MS = 100
# In a planned handover the old owner lets its calls rest while it waits up to 250 ms for customers'
# responses, and the next one takes 60 ms to recover.
HANDOVER_MS = 400
UNSTORED_MS = round(QUIET_DELAY_S * 1000)  # for so long, a change without commands is not stored
LAST_LINES = 10  # of the step that fills a log, with cached results, and of the call's end
WAY_MS = 5  # latency from the PBX to the call without faults


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check the end of every call, channel, bridge and playback."""
    # A loop of hold music is played again when its playback was not confirmed.
    again = {
        f"{playback} heard twice" for history in histories for playback in _hold_music(history)
    }
    yield from (
        (subject, message) for subject, message in world.pbx.violations if message not in again
    )
    yield from ((leg, "a party was dialled twice") for leg in world.pbx.called_again)
    if not world.is_at_rest:
        yield "", "never came to rest"
    yield from (("", f"a task failed: {message}") for message in world.task_errors)
    for message in world.servers.violations:
        yield message.partition(" ")[0], message
    for left in (*world.pbx.channels, *world.pbx.bridges, *world.pbx.playbacks):
        yield left, "is left on the PBX"
    yield from _ghosts(world, histories)
    for history in histories:
        for message in (
            *_ended(history),
            *_late(world, history),
            *_status(world, history),
            *_unsent(world, history),
            *_limited(world, history),
        ):
            yield history.id, message


def _hold_music(history: CallHistory) -> set[str]:
    sessions = (each for m in history.steps for each in (m.call.transfer, m.call.conference))
    return {each.hold_music.playback for each in sessions if each and each.hold_music}


def _ended(history: CallHistory) -> Iterator[str]:
    if history.is_live or not history.record.call.is_ended:
        yield "never ended"
        return
    if not history.steps or history.steps[-1].call != history.record.call:
        yield "its log does not lead to its record"
    over = [m for m in history.steps if m.call.is_ended]
    for step in over[1:]:
        is_refused = isinstance(step.event, LegCreated | LegRinging | LegAnswered)
        is_idle = isinstance(step.event, Recovered) and not step.commands
        if not (is_refused or is_idle):
            yield f"went on after its end: {step.event}"


def _unsent(world: WorldView, history: CallHistory) -> Iterator[str]:
    """Find webhooks that reached no server, as that of a call that had ended meanwhile."""
    for command in history.commands:
        if isinstance(command, SendWebhook) and command.request not in world.servers.bodies:
            yield f"{command.request} was never sent"


def _limited(world: WorldView, history: CallHistory) -> Iterator[str]:
    lines, reason = 1 + len(history.steps), history.record.call.reason
    if lines > world.max_log_lines + LAST_LINES:
        yield f"has a log of {lines} lines"
    if (reason == "call_too_large") != (lines > world.max_log_lines):
        yield f"ended after {lines} lines with the reason {reason!r}"


def _late(world: WorldView, history: CallHistory) -> Iterator[str]:
    for before, after in pairwise(history.steps):
        begin_ms, end_ms = before.at_ms, after.at_ms
        if end_ms - begin_ms <= LATE_MS:
            continue  # most intervals are short
        due_ms = deadline_ms(before.call)
        if due_ms is not None and end_ms > due_ms + LATE_MS:
            begins_ms = max(begin_ms, due_ms)
            # A step before a fault may be lost, like a key that went down.
            is_disturbed = world.faults.is_disturbed(begins_ms, end_ms)
            late_ms = HANDOVER_MS if isinstance(after.event, Recovered) else LATE_MS
            allowed_ms = late_ms + UNSTORED_MS * is_disturbed
            if world.faults.healthy_ms(begins_ms, end_ms) > allowed_ms:
                yield f"acted {end_ms - due_ms} ms after a deadline, in {before.call.state}"


def _status(world: WorldView, history: CallHistory) -> Iterator[str]:
    call = history.record.call
    channel = world.pbx.past.get(history.opened.main)
    if (
        channel is None
        or not call.is_ended
        or world.faults.is_disturbed(channel.born_ms, call.ended_ms + call.unseen_ms)
    ):
        return
    decided = (m.at_ms for m in history.steps if isinstance(m.call.state, Ending | Ended))
    decided_ms = next(decided, call.ended_ms)
    if channel.up_ms is not None and channel.up_ms > decided_ms - WAY_MS:
        return  # answered during the hangup: both outcomes are right
    if channel.up_ms is not None:
        # If the first webhook or flow failed, no instruction was ever run.
        due = {"completed" if call.has_run_verb or call.cause != causes.INTERWORKING else "failed"}
    elif call.ended_by == "callee" or (call.ended_by == "caller" and call.direction == "outbound"):
        due = {causes.unanswered_status(channel.cause)}
    else:
        due = {"canceled", "no-answer", "failed"}
        if history.opened.answer_deferred:
            due |= {"busy"}  # as the dial was, while its caller heard ringing
    if call.status not in due:
        yield f"has status {call.status} instead of {due}"


def _ghosts(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    wanted: set[str] = set()
    for history in histories:
        for command in history.commands:
            match command:
                case Originate(leg):
                    wanted.add(leg)
                case Play(playback=playback):
                    wanted.add(playback)
                case AddToBridge(bridge):
                    wanted.add(bridge)
                case Snoop(snoop):
                    wanted.add(snoop)
                case StartStream(stream):
                    wanted.add(stream)
                case _:
                    pass
    made = {each for each in world.pbx.past if call_of(each)} | world.pbx.heard.keys()
    yield from (
        (each, "was created, but its log does not say so") for each in sorted(made - wanted)
    )
