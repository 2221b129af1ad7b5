"""Calls for recovery, and commands in their outboxes."""

from engine.calls.model.commands import Command
from engine.calls.model.events import CallOpened, LegRinging
from tests.harness.calls.builders import HTTPS, MAIN, Story, answered_call, outbound, say


def open_call(story: Story) -> Story:
    story.take(CallOpened())
    return story


def ringing() -> Story:
    """Return a call whose main leg rings."""
    story = open_call(Story(outbound(say())))
    story.take(LegRinging(MAIN))
    return story


def playing_call() -> Story:
    story = answered_call(say())
    story.deliver_media()
    return story


def playing_gather_prompt() -> Story:
    story = answered_call({"type": "gather", "data": {"audioUrl": HTTPS}})
    story.deliver_media()
    return story


def outbox(story: Story, *kinds: type[Command]) -> tuple[Command, ...]:
    """Return the commands of some types, as an outbox of commands that may not have run."""
    return tuple(each for each in story.commands if isinstance(each, kinds))
