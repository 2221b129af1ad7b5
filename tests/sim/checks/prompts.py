"""Every prompt is heard once and whole, unless it is unavailable, interrupted or cut off.

A prompt that is unavailable or perhaps not heard is reported, and no other.
"""

from collections.abc import Iterator, Sequence

from engine.calls.media.awaited_playbacks import active_playback
from engine.calls.model.call import Call, is_held
from engine.calls.model.call_states import Gathering, Playing
from engine.calls.model.commands import EmitEvent, Play
from engine.calls.model.events import DeadlinePassed, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.replay_audit import ReplayStep
from tests.harness.sim.media import parts
from tests.sim.call_histories import CallHistory
from tests.sim.checks.ends import UNSTORED_MS
from tests.sim.world_view import WorldView
from wire.media import Audio, Source

ON_MS = 250  # the next verb begins within this time
WAIT_MS = 1_000  # from a failure to its report
WAY_MS = 60  # latency from a commit to the PBX


def check(world: WorldView, histories: Sequence[CallHistory]) -> Iterator[tuple[str, str]]:
    """Check every prompt of every call."""
    for history in histories:
        for message in (*_fetched(history), *_played(world, history), *_left(world, history)):
            yield history.id, message
        for message in _unreported(history):
            yield history.id, message
        if any(each.event == "media-failed" for each in history.logged_events):
            for message in (*_unfounded(world, history), *_not_instead(history)):
                yield history.id, message
        if any(map(_is_stuck, (step.call for step in history.steps))):
            yield history.id, "a prompt stayed suspended when its leg was resumed"


def _is_stuck(call: Call) -> bool:
    match call.state:
        case Playing(suspended=True):
            return not is_held(call, call.main)
        case Gathering(leg=leg, suspended=True):
            return not is_held(call, leg)
        case _:
            return False


def _fetched(history: CallHistory) -> Iterator[str]:
    sources: dict[str, tuple[Source, ...]] = {}
    before = history.opened
    for step in history.steps:
        sources |= {c.request: c.sources for c in step.commands if isinstance(c, FetchMedia)}
        match step.event:
            case MediaFetched(request, clips) as event if _waits_for(before.state, request):
                if len(clips) < sum(parts(each)[2] != "bad" for each in sources[request]):
                    yield f"{request}: an available clip was left out"
                is_replaced = event.failed and _has_on_error(before.state)
                is_played = any(isinstance(each, Play) for each in step.commands)
                # A caller who speaks already, or makes a sound, is heard out.
                is_held = isinstance(before.state, Gathering) and (
                    before.state.utterances > 0 or before.state.paused_ms > 0
                )
                if clips and not is_played and not is_replaced and not is_held:
                    yield f"{request}: was fetched but not played"
            case _:
                pass
        before = step.call


def _has_on_error(state: object) -> bool:
    return isinstance(state, Playing | Gathering) and state.verb.on_error is not None


def _waits_for(state: object, request: str) -> bool:
    match state:
        case Playing() if state.request == request:
            return not state.clips and not state.suspended
        case Gathering() if state.request == request:
            return state.phase == "fetch" and not state.suspended
        case _:
            return False


def _played(world: WorldView, history: CallHistory) -> Iterator[str]:
    for step in history.steps:
        for command in step.commands:
            if isinstance(command, Play) and not _was_heard(world, history, command, step.at_ms):
                yield f"{command.playback}: was never heard"


def _was_heard(world: WorldView, history: CallHistory, play: Play, now: int) -> bool:
    heard = world.pbx.heard.get(play.playback)
    if heard is not None and heard.span is not None:
        return True  # whole or stopped: the PBX checks this
    if heard is not None and heard.stopped:
        return True
    until_ms = _waited_until_ms(history, play.playback)
    channel = world.pbx.past.get(play.leg)
    ended_ms = channel.ended_ms if channel and channel.ended_ms is not None else until_ms
    disturbed_ms = world.faults.disturbed_until_ms(now, WAY_MS)
    if any(each.event == PlaybackEnded(play.playback) for each in history.steps):
        is_reported = disturbed_ms > now and _is_uncertain(history, play.playback)
        return is_reported or ended_ms <= until_ms + WAY_MS
    return min(until_ms, ended_ms) <= disturbed_ms + WAY_MS  # interrupted before it could begin


def _is_uncertain(history: CallHistory, playback: str) -> bool:
    """Return whether a takeover reported that the prompt was perhaps not heard.

    An engine that dies between a commit and its commands leaves no trace of which it sent.
    """
    events = (step.event for step in history.steps)
    return any(isinstance(each, Recovered) and playback in each.uncertain for each in events)


def _waited_until_ms(history: CallHistory, playback: str) -> float:
    return max(
        (e for _, e, call in history.intervals if active_playback(call) == playback), default=0
    )


def _left(world: WorldView, history: CallHistory) -> Iterator[str]:
    since_ms: dict[str, int] = {}
    for step, (begin_ms, end_ms, call) in zip(history.steps[1:], history.intervals, strict=False):
        awaited = active_playback(call) or ""
        requested_ms = since_ms.setdefault(awaited, begin_ms)
        playback = world.pbx.heard.get(awaited)
        if playback is None or playback.ended_ms is None or _waits_for_key(call.state):
            continue
        begins_ms = max(begin_ms, playback.ended_ms)
        # A step before a fault may be lost, like a key that ended the prompt.
        allowed_ms = ON_MS + UNSTORED_MS * world.faults.is_disturbed(begins_ms, end_ms)
        if world.faults.healthy_ms(begins_ms, end_ms) > allowed_ms:
            yield f"{playback.id}: waited {end_ms - playback.ended_ms:.0f} ms after its end"
        is_struck = isinstance(step.event, DeadlinePassed) and step.at_ms < call.must_end_ms
        is_struck = is_struck and not _has_limit(call.state)
        is_struck = is_struck and active_playback(step.call) != playback.id
        if (
            is_struck
            and not playback.missing
            and not world.faults.is_disturbed(requested_ms, end_ms)
        ):
            yield f"{playback.id}: was given up"


def _waits_for_key(state: object) -> bool:
    """Return whether a gather that is over waits for the release of a key (decision 0013)."""
    return isinstance(state, Gathering) and state.awaits_key_up


def _has_limit(state: object) -> bool:
    return isinstance(state, Playing | Gathering) and state.verb.timeout is not None


def _unreported(history: CallHistory) -> Iterator[str]:
    before = history.opened
    for step in history.steps:
        event, state = step.event, before.state
        is_awaited = (
            isinstance(event, MediaFetched)
            and isinstance(state, Playing | Gathering)
            and state.request == event.request
            and (state.phase == "fetch" if isinstance(state, Gathering) else not state.clips)
        )
        if isinstance(event, MediaFetched) and is_awaited:
            reported = {source for source, _reason in _reports(step)}
            for fault in event.failed:
                if fault.source not in reported:
                    yield f"{event.request}: {fault.source} failed and was not reported"
        before = step.call


def _unfounded(world: WorldView, history: CallHistory) -> Iterator[str]:
    played_ms = 0.0
    for step in history.steps:
        if any(isinstance(each, Play) for each in step.commands):
            played_ms = step.at_ms
        for source, reason in _reports(step):
            kind = parts(Audio(source))[2] if "/" in source else "ok"  # a beep has no address
            is_disturbed = world.faults.is_disturbed(step.at_ms - WAIT_MS, step.at_ms)
            # A list is reported by its first source.
            is_lost = kind == "lost" or _has_lost_clip(history, step.at_ms)
            if reason == "not_played" and (is_lost or is_disturbed):
                continue
            # It waited for the store, or the PBX.
            if reason == "cut_off" and world.faults.is_disturbed(played_ms, step.at_ms):
                continue
            if reason == "timeout" or (reason == "unreachable" and kind == "bad"):
                continue
            yield f"{source} was reported as {reason}"


def _has_lost_clip(history: CallHistory, at_ms: int) -> bool:
    plays = [
        command
        for step in history.steps
        for command in step.commands
        if isinstance(command, Play) and step.at_ms <= at_ms
    ]
    return any(clip.key.startswith("lost") for play in plays for clip in play.clips)


def _not_instead(history: CallHistory) -> Iterator[str]:
    """Yield the verbs that went on although their `onError` had to run.

    A caller who speaks when a prompt fails is heard out.
    """
    before = history.opened
    for step in history.steps:
        state = before.state
        is_heard_out = isinstance(state, Gathering) and state.utterances > 0
        has_on_error = isinstance(state, Playing | Gathering) and state.verb.on_error is not None
        if has_on_error and not is_heard_out and _reports(step):
            after = step.call.state
            assert isinstance(state, Playing | Gathering)
            if isinstance(after, Playing | Gathering) and after.verb == state.verb:
                yield f"{state.request}: went on instead of its onError"
        before = step.call


def _reports(step: ReplayStep) -> list[tuple[str, str]]:
    return [
        (each.event.source or "", each.event.reason or "")
        for each in step.commands
        if isinstance(each, EmitEvent) and each.event.event == "media-failed"
    ]
