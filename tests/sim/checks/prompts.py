"""Every prompt is heard once and whole, unless it can't be had, is interrupted, or is cut off."""

from collections.abc import Iterator, Sequence

from engine.calls.media.playbacks import active_playback
from engine.calls.model.call import Call, is_held
from engine.calls.model.commands import Play
from engine.calls.model.events import DeadlinePassed
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Gathering, Playing
from tests.harness.sim.media import parts
from tests.sim.call_log import Story
from tests.sim.scene import World
from wire.media import Source

ON_MS = 250  # within this, what comes after a prompt has begun
WAY_MS = 60  # from a commit to the PBX


def check(world: World, told: Sequence[Story]) -> Iterator[tuple[str, str]]:
    """Check every prompt of every call."""
    for story in told:
        for words in (*_fetched(story), *_played(world, story), *_left(world, story)):
            yield story.id, words
        if any(map(_is_stuck, (moment.call for moment in story.moments))):
            yield story.id, "a prompt stayed paused when its leg was taken off hold"


def _is_stuck(call: Call) -> bool:
    match call.state:
        case Playing(suspended=True):
            return not is_held(call, call.main)
        case Gathering(leg=leg, suspended=True):
            return not is_held(call, leg)
        case _:
            return False


def _fetched(story: Story) -> Iterator[str]:
    sources: dict[str, tuple[Source, ...]] = {}
    before = story.opened
    for moment in story.moments:
        sources |= {c.request: c.sources for c in moment.commands if isinstance(c, FetchMedia)}
        match moment.event:
            case MediaFetched(request, clips) if _waits_for(before.state, request):
                if len(clips) < sum(parts(each)[2] != "bad" for each in sources[request]):
                    yield f"{request}: something that can be had was left out"
                if clips and not any(isinstance(each, Play) for each in moment.commands):
                    yield f"{request}: was fetched and not played"
            case _:
                pass
        before = moment.call


def _waits_for(doing: object, request: str) -> bool:
    match doing:
        case Playing() if doing.request == request:
            return not doing.clips and not doing.suspended
        case Gathering() if doing.request == request:
            return doing.phase == "fetch" and not doing.suspended
        case _:
            return False


def _played(world: World, story: Story) -> Iterator[str]:
    for moment in story.moments:
        for command in moment.commands:
            if isinstance(command, Play) and not _was_heard(world, story, command, moment.at_ms):
                yield f"{command.playback}: was never heard"


def _was_heard(world: World, story: Story, play: Play, now: int) -> bool:
    heard = world.pbx.heard.get(play.playback)
    if heard is not None and heard.span is not None:
        return True  # whole, or stopped; the PBX sees to that
    if heard is not None and heard.stopped:
        return True
    until_ms = _waited_until_ms(story, play.playback)
    channel = world.pbx.past.get(play.leg)
    ended_ms = channel.ended_ms if channel and channel.ended_ms is not None else until_ms
    trouble_ms = max((e for b, e in world.faults.troubles if b <= now + WAY_MS <= e), default=now)
    if min(until_ms, ended_ms) <= trouble_ms + WAY_MS:
        return True  # interrupted before it could begin
    return trouble_ms >= now + sum(clip.duration_ms for clip in play.clips)


def _waited_until_ms(story: Story, playback: str) -> float:
    return max(
        (e for _, e, call in story.stretches() if active_playback(call) == playback), default=0
    )


def _left(world: World, story: Story) -> Iterator[str]:
    since_ms: dict[str, int] = {}
    for moment, (begin_ms, end_ms, call) in zip(story.moments[1:], story.stretches(), strict=False):
        asked_ms = since_ms.setdefault(active_playback(call) or "", begin_ms)
        playback = world.pbx.heard.get(active_playback(call) or "")
        if playback is None or playback.ended_ms is None:
            continue
        if world.faults.healthy_ms(max(begin_ms, playback.ended_ms), end_ms) > ON_MS:
            yield f"{playback.id}: waited {end_ms - playback.ended_ms:.0f} ms after its end"
        is_struck = isinstance(moment.event, DeadlinePassed) and moment.at_ms < call.must_end_ms
        is_struck = is_struck and not _has_limit(call.state)
        is_struck = is_struck and active_playback(moment.call) != playback.id
        if is_struck and not playback.missing and not world.faults.touched(asked_ms, end_ms):
            yield f"{playback.id}: was given up"


def _has_limit(doing: object) -> bool:
    return isinstance(doing, Playing | Gathering) and doing.verb.timeout is not None
