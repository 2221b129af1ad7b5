"""Published names: each event, command and state has its own tag, independent of its class name."""

import re
from collections import Counter
from collections.abc import Iterator
from typing import Any, get_args

import pytest
from msgspec import Struct

from engine.calls.model.call_states import CallState
from engine.calls.model.commands import Command
from engine.calls.model.events import Event
from engine.calls.model.requests import CallRequest
from wire.base import tag_of
from wire.callbacks.targets import CallTarget
from wire.flow import Node
from wire.media import Source
from wire.verbs import Verb

KEBAB = re.compile(r"[a-z]+(-[a-z]+)*")

REQUESTS = """
    add-member-requested coach-requested dial-requested fork-requested hangup-requested
    hold-requested kick-requested leg-hangup-requested mute-requested recording-requested
    stream-stop-requested stream-text-requested
    transfer-cancel-requested transfer-completion-requested transfer-requested
"""
EVENTS = f"""
    {REQUESTS} action-failed action-received agent-named api-request-failed api-request-succeeded
    bridge-failed call-dropped call-opened clock-changed deadline-passed digit-pressed
    digit-started flow-node-loaded flow-started leg-answered leg-created leg-ended
    leg-held-by-phone leg-replaced leg-resumed-by-phone leg-ringing media-fetched playback-ended
    recordings-archived recovered stream-action-received stream-connected stream-ended
    speech-understood stream-interrupted stream-mark-reached stream-speech-changed refer-received
    replacement-arrived talk-ended talk-started
    voicemail-ended
"""
# A new command is checked against the places in EXEMPT of test_exhaustive_matches.py.
COMMANDS = """
    add-to-bridge answer answer-refer archive-recordings destroy-bridge dial emit-event fetch-media
    hangup listen load-flow load-flow-node mute mute-recording originate pause-playback play
    prefetch-media remove-from-bridge reset-converter resume-playback send-api-request
    send-to-stream send-webhook snoop
    start-hold-music start-recording start-ringing start-stream start-talk-detection
    start-voicemail stop-hold-music stop-playback
    stop-recording stop-ringing stop-stream stop-talk-detection stop-voicemail unmute
"""
STATES = """
    advance archiving-recordings awaiting-instructions bridged detecting dialing ended ending
    gathering pausing playing recording starting streaming
"""


def members(union: Any) -> Iterator[type[Struct]]:
    """List the structs of a union, those of unions within it included."""
    for each in get_args(union):
        if isinstance(each, type):
            yield each
        else:
            yield from members(each)


@pytest.mark.parametrize(
    "union", [Event, Command, CallState, CallRequest, Node, Source, CallTarget, Verb]
)
def test_each_member_has_its_own_tag(union: Any) -> None:
    """A tag is explicit, in kebab case and unique: renaming a class does not change it."""
    kinds = list(members(union))
    assert len(kinds) > 1
    tags = Counter(map(tag_of, kinds))
    assert not [tag for tag, count in tags.items() if count > 1]
    assert not [tag for tag in tags if not KEBAB.fullmatch(tag)]


@pytest.mark.parametrize(
    ("union", "published"),
    [
        pytest.param(Event, EVENTS, id="events"),
        pytest.param(Command, COMMANDS, id="commands"),
        pytest.param(CallState, STATES, id="states"),
        pytest.param(CallRequest, REQUESTS, id="requests"),
    ],
)
def test_the_published_names(union: Any, published: str) -> None:
    """Timelines, logs of calls and metrics use them: a change is one of the interface."""
    assert sorted(map(tag_of, members(union))) == sorted(published.split())


def test_events_and_commands_differ() -> None:
    """A name is either an event's or a command's."""
    assert not {*map(tag_of, members(Event))} & {*map(tag_of, members(Command))}


@pytest.mark.parametrize("union", [Event, Command])
def test_no_field_is_named_type(union: Any) -> None:
    """A timeline shows the tag as `type`, beside the fields."""
    assert not [kind for kind in members(union) if "type" in kind.__struct_fields__]


def test_without_a_tag_there_is_no_published_name() -> None:
    """The class name does not replace it."""

    class Untagged(Struct):
        """Has no tag."""

    with pytest.raises(TypeError):
        tag_of(Untagged)
