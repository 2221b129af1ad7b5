"""A crash while a dialled leg is greeted: what was missed is told, and each stage ends well."""

from typing import Any

from engine.calls.media.playbacks import awaited_playbacks
from engine.calls.model.codec import StoredCall, decode_stored_call, encode
from engine.calls.model.commands import Play, StartTalkDetection, StopTalkDetection
from engine.calls.model.events import LegAnswered, LegEnded, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.state import Dialing, Gathering, Playing
from engine.calls.recovery.reconcile import reconcile
from engine.calls.recovery.snapshot import PbxSnapshot
from tests.unit.calls.harness.builders import CLIPS, ID, MAIN, Story, dialing, say

FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
BOTH_UP = {MAIN: "Up", FIRST: "Up", SECOND: "Up"}


def greeting(**data: Any) -> Story:
    """Dial two parties who have both answered."""
    story = dialing(data={"number": ["+4711", "+4712"], **data})
    story.take(LegAnswered(FIRST), 1_000)
    story.take(LegAnswered(SECOND), 100)
    return story


def heard(story: Story) -> tuple[str, str]:
    """Bring both their audio; gives the playbacks."""
    first, second = (
        each.state.request
        for each in story.state_as(Dialing).screenings
        if isinstance(each.state, (Playing, Gathering))
    )
    story.take(MediaFetched(first, CLIPS))
    story.take(MediaFetched(second, CLIPS))
    return first, second


def test_greetings_are_stored() -> None:
    """Every stage is read as it was written."""
    data = {
        "whisper": say(),
        "confirm": {"text": "One?"},
        "machineDetection": {"onMachine": "hangup"},
    }
    for story in (greeting(**data), greeting(whisper=say()), greeting(confirm={"digit": "2"})):
        record = StoredCall(story.call, tuple(story.commands), 7)
        assert decode_stored_call(encode(record)) == record


def test_a_whisper_that_ended_meanwhile() -> None:
    """Each leg's own prompt is looked for; the one that is over connects its leg."""
    story = greeting(whisper=say())
    first, second = heard(story)
    assert awaited_playbacks(story.call) == (first, second)
    _, events = reconcile(story.call, (), PbxSnapshot(BOTH_UP, frozenset({first})), story.now)
    assert events == (PlaybackEnded(second), Recovered())
    for event in events:
        story.take(event, 3_000)
    assert story.state == "bridged"


def test_a_whisper_that_was_not_begun() -> None:
    """Its fetch and its playback are asked for again, unless it would be over by now."""
    story = greeting(whisper=say())
    fetches = tuple(story.wanted(FetchMedia))
    assert reconcile(story.call, fetches, PbxSnapshot(BOTH_UP), story.now)[0] == fetches
    heard(story)
    plays = tuple(story.wanted(Play))
    redo, events = reconcile(story.call, plays, PbxSnapshot(BOTH_UP), story.now)
    assert (redo, events) == (plays, (Recovered(),))
    late = story.now + 60_000
    assert reconcile(story.call, plays, PbxSnapshot(BOTH_UP), late)[0] == ()


def test_detection_ends_with_the_outage() -> None:
    """Both are unknown, and the first of them is talked to."""
    story = greeting(machineDetection=True)
    box = tuple(story.wanted(StartTalkDetection))
    redo, events = reconcile(story.call, box, PbxSnapshot(BOTH_UP), story.now)
    assert redo == box
    story.take(events[-1], 9_000)
    assert story.wanted(StopTalkDetection) == [StopTalkDetection(FIRST, "unknown")]
    assert story.state == "bridged"


def test_who_left_meanwhile() -> None:
    """One that is gone is gone; the other is greeted on."""
    story = greeting(confirm={})
    _, events = reconcile(story.call, (), PbxSnapshot({MAIN: "Up", SECOND: "Up"}), story.now)
    assert events == (LegEnded(FIRST, 0), Recovered())
    for event in events:
        story.take(event)
    assert [each.leg for each in story.state_as(Dialing).screenings] == [SECOND]
