"""Recordings that are lost, or much shorter than their calls."""

import pytest

from engine.calls.reporting.failed_recordings import failed_recordings
from tests.harness.calls.builders import answered_call, say
from tests.harness.calls.recordings import end_and_archive, recorded_call, request_recording


def ended_after(length_ms: int, duration_ms: int, fault: str = "") -> list[str]:
    """Return how the recording of a call failed that had this length."""
    story = recorded_call()
    story.now += length_ms
    end_and_archive(story, duration_ms, fault)
    return [*failed_recordings(story.call)]


@pytest.mark.parametrize(
    ("length_ms", "duration_ms", "failed"),
    [
        (60_000, 59_900, []),
        (60_000, 31_000, []),  # both sides were silent for a while
        (60_000, 29_000, ["cut"]),
        (60_000, 0, ["cut"]),
        (4_000, 0, []),
        (6_000, 0, ["cut"]),
    ],
)
def test_a_recording_that_lacks_most_of_its_call(
    length_ms: int, duration_ms: int, failed: list[str]
) -> None:
    """The file of a PBX whose disk is full ends early, without an error."""
    assert ended_after(length_ms, duration_ms) == failed


def test_a_lost_recording_has_failed() -> None:
    """The PBX has no file."""
    assert ended_after(60_000, 0, "lost") == ["lost"]
    assert ended_after(60_000, 0, "archive") == []  # it is archived later


@pytest.mark.parametrize("wanted", ["stop", "pause"])
def test_a_recording_that_was_to_end_early_has_not_failed(wanted: str) -> None:
    """It is not known how long it should be."""
    story = recorded_call()
    request_recording(story, wanted)  # type: ignore[arg-type]  # one of its literals
    story.now += 60_000
    end_and_archive(story, 1_000)
    assert [*failed_recordings(story.call)] == []


def test_a_call_without_a_recording() -> None:
    """None has failed."""
    story = answered_call(say())
    story.hang_up()
    assert [*failed_recordings(story.call)] == []
