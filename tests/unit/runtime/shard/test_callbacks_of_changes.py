"""What a shard commits for customers: each event of a call, numbered, without the call record."""

from collections.abc import Sequence
from typing import Any

import msgspec

from engine.calls.model.events import LegAnswered, LegEnded, LegRinging
from engine.store.change import Change, coalesce
from tests.harness.calls.builders import MAIN, outbound
from tests.harness.runtime.shard_scene import ShardScene
from wire.callbacks.targets import AutoSetTarget


def _changes_of_a_call(**fields: Any) -> list[Change]:
    """Run a call from its start to its end; return its changes."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(**fields))
    scene.pbx.settle()
    for event in (LegRinging(MAIN), LegAnswered(MAIN), LegEnded(MAIN, 16)):
        scene.shard.feed(live_call, event)
        scene.pbx.settle()
    assert live_call.call.is_ended
    return scene.writer.changes


def _decoded(bodies: Sequence[bytes]) -> list[dict[str, Any]]:
    return [msgspec.json.decode(body) for body in bodies]


def test_callbacks_are_the_events_without_the_record() -> None:
    """The record in the last event is for the platform; all else is the same, byte for byte."""
    changes = _changes_of_a_call(callback_target=AutoSetTarget())
    events = [body for change in changes for body in change.events]
    callbacks = [body for change in changes for body in change.callbacks]
    assert callbacks[:-1] == events[:-1]
    last_event, last_callback = _decoded((events[-1], callbacks[-1]))
    assert last_event.pop("record")["callId"] == last_callback["callId"]
    assert last_callback == last_event
    assert last_callback["event"] == "completed"


def test_callbacks_are_numbered_without_gaps() -> None:
    """Each change names the number of its first callback, also when several are merged."""
    changes = _changes_of_a_call(callback_target=AutoSetTarget())
    (merged,) = coalesce(changes)
    for each in (*changes, merged):
        numbers = [event["sequenceNumber"] for event in _decoded(each.callbacks)]
        assert numbers == list(range(each.first_seq, each.first_seq + len(numbers)))
        assert each.delivery_key == "acme auto-set"
    assert len(merged.callbacks) == sum(len(change.callbacks) for change in changes) > 3
    assert [change.live for change in changes][-2:] == [True, False]


def test_a_call_without_a_target_has_no_callbacks() -> None:
    """Its events are in the stream only."""
    changes = _changes_of_a_call()
    assert any(change.events for change in changes)
    assert not any(change.callbacks for change in changes)
