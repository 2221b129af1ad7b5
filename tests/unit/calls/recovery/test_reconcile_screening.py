"""Recovery while dialled legs are screened: missed events are repeated, and each stage ends."""

from typing import Any

from engine.calls.media.awaited_playbacks import awaited_playbacks
from engine.calls.model.call_states import Dialing, Gathering, Playing
from engine.calls.model.commands import Play, StartTalkDetection, StopTalkDetection
from engine.calls.model.events import LegAnswered, LegEnded, PlaybackEnded, Recovered
from engine.calls.model.io_commands import FetchMedia
from engine.calls.model.io_results import MediaFetched
from engine.calls.model.storage_format import StoredCall, decode_stored_call, encode
from engine.calls.recovery.pbx_snapshot import PbxSnapshot
from engine.calls.recovery.reconcile import reconcile
from tests.harness.calls.builders import CLIPS, ID, MAIN, Story, dialing_call, say

FIRST, SECOND = f"{ID}.l1", f"{ID}.l2"
BOTH_UP = {MAIN: "Up", FIRST: "Up", SECOND: "Up"}


def screening(**data: Any) -> Story:
    """Dial two parties, which both answer."""
    story = dialing_call(data={"number": ["+4722000011", "+4722000012"], **data})
    story.take(LegAnswered(FIRST), 1_000)
    story.take(LegAnswered(SECOND), 100)
    return story


def fetch_both(story: Story) -> tuple[str, str]:
    """Return the playbacks, once both have their audio."""
    first, second = (
        each.state.request
        for each in story.state_as(Dialing).screenings
        if isinstance(each.state, (Playing, Gathering))
    )
    story.take(MediaFetched(first, CLIPS))
    story.take(MediaFetched(second, CLIPS))
    return first, second


def test_screenings_are_stored() -> None:
    """Every stage is decoded as it was encoded."""
    data = {
        "whisper": say(),
        "confirm": {"text": "One?"},
        "machineDetection": {"onMachine": "hangup"},
    }
    for story in (screening(**data), screening(whisper=say()), screening(confirm={"digit": "2"})):
        record = StoredCall(story.call, tuple(story.commands), 7)
        assert decode_stored_call(encode(record)) == record


def test_a_whisper_that_ended_meanwhile() -> None:
    """Each leg's own prompt is checked; the leg whose prompt has ended is connected."""
    story = screening(whisper=say())
    first, second = fetch_both(story)
    assert awaited_playbacks(story.call) == (first, second)
    _, events = reconcile(story.call, (), PbxSnapshot(BOTH_UP, frozenset({first})), story.now)
    assert events == (PlaybackEnded(second), Recovered())
    for event in events:
        story.take(event, 3_000)
    assert story.state == "bridged"


def test_a_whisper_that_was_not_started() -> None:
    """Its fetch and its playback are requested again, unless it would have ended by now."""
    story = screening(whisper=say())
    fetches = tuple(story.commands_of(FetchMedia))
    assert reconcile(story.call, fetches, PbxSnapshot(BOTH_UP), story.now)[0] == fetches
    fetch_both(story)
    plays = tuple(story.commands_of(Play))
    redo, events = reconcile(story.call, plays, PbxSnapshot(BOTH_UP), story.now)
    begun = tuple(each.playback for each in plays)
    assert (redo, events) == (plays, (Recovered(restarted=begun),))
    late = story.now + 60_000
    assert reconcile(story.call, plays, PbxSnapshot(BOTH_UP), late)[0] == ()


def test_detection_ends_with_the_outage() -> None:
    """Both results are unknown, and the first leg is connected."""
    story = screening(machineDetection=True)
    box = tuple(story.commands_of(StartTalkDetection))
    redo, events = reconcile(story.call, box, PbxSnapshot(BOTH_UP), story.now)
    assert redo == box
    story.take(events[-1], 9_000)
    assert story.commands_of(StopTalkDetection) == [StopTalkDetection(FIRST, "unknown")]
    assert story.state == "bridged"


def test_a_leg_that_ended_meanwhile() -> None:
    """Its screening ends; the other leg's goes on."""
    story = screening(confirm={})
    _, events = reconcile(story.call, (), PbxSnapshot({MAIN: "Up", SECOND: "Up"}), story.now)
    assert events == (LegEnded(FIRST, 0), Recovered())
    for event in events:
        story.take(event)
    assert [each.leg for each in story.state_as(Dialing).screenings] == [SECOND]
