"""A bot's audio on its way to the caller, in virtual time: what stops it, and what drops it."""

import json

import pytest

from streams.stream.audio import linear
from tests.unit.streams.bot_lab import SILENCE, SOUND, Lab
from wire.streams.reports import LiveStream
from wire.streams.setup import ActionMessage


def outcomes(lab: Lab) -> list[tuple[str, int]]:
    """Return what sounds of the caller did, and how much of the bot was heard by then."""
    return [(each["outcome"], each["heardMs"]) for each in lab.of("barge-in")]


def test_a_cough_delays_what_a_bot_says() -> None:
    """It stops after the frame that is played, and continues there."""
    lab = Lab(barge_in="pause", voice=0.1)
    lab.stream.read_binary(SOUND * 50)
    lab.hear(*[SOUND] * 6, *[SILENCE] * 10)
    assert outcomes(lab) == [("paused", 40), ("resumed", 40)]
    assert lab.metrics.barge_ins.table() == {"paused": 1, "resumed": 1}
    assert lab.commands == ["flush", "pause", "resume"]
    lab.wait(1_000)
    assert lab.pbx.sent.count(SOUND) == 50
    assert lab.stream.live() == LiveStream("c.w1", True, 1_000)


def test_a_pbx_that_has_stood_still_is_late() -> None:
    """What was heard is counted by its queue, for which it is asked."""
    lab = Lab()
    lab.stream.read_binary(SOUND * 12)
    lab.wait(150)
    assert lab.pbx.questions == 1
    lab.stream.queue_known(12)
    lab.wait(230)
    assert lab.stream.live().heard_ms == 220
    lab.wait(10)
    assert lab.stream.live().heard_ms == 240


def test_a_pause_ends_without_frames() -> None:
    """A phone may send no silence."""
    lab = Lab(barge_in="pause", voice=0.1)
    lab.stream.read_binary(SOUND * 50)
    lab.hear(SOUND, SOUND)
    lab.wait(390)
    assert outcomes(lab) == [("paused", 40)]
    lab.wait(10)
    assert outcomes(lab) == [("paused", 40), ("resumed", 40)]


def test_a_voice_drops_what_a_bot_says() -> None:
    """Its marks come back as cleared; the rest of its sentence is dropped up to its own clear."""
    lab = Lab(barge_in="pause")
    lab.stream.read_binary(SOUND * 50)
    lab.mark(2)
    lab.hear(*[SOUND] * 10)
    assert outcomes(lab) == [("paused", 40), ("flushed", 40)]
    assert lab.commands == ["flush", "pause", "flush", "resume"]
    assert [(each["name"], each["isCleared"]) for each in lab.of("mark")] == [
        ("0", True),
        ("1", True),
    ]
    said = lab.pbx.sent.count(SOUND)
    lab.stream.read_binary(SOUND)
    lab.wait(20)
    assert lab.pbx.sent.count(SOUND) == said
    assert lab.metrics.dropped_frames.table() == {"barge-in": 1}
    lab.say(event="clear")
    lab.stream.read_binary(SOUND)
    assert lab.pbx.sent.count(SOUND) == said + 1


def test_what_a_bot_says_after_it_was_silent_is_heard() -> None:
    """Also without a clear: it has begun something new."""
    lab = Lab(barge_in="flush")
    lab.stream.read_binary(SOUND * 50)
    lab.hear(SOUND, SOUND)
    said = lab.pbx.sent.count(SOUND)
    for frame in (SILENCE, SOUND):
        lab.wait(140)
        lab.stream.read_binary(frame)
    assert lab.pbx.sent.count(SOUND) == said + 1


def test_a_bot_that_clears_during_a_pause_is_not_dropped_after_it() -> None:
    """It has noticed the caller by itself; what it says next is heard."""
    lab = Lab(barge_in="pause", voice=0.1)
    lab.stream.read_binary(SOUND * 50)
    lab.hear(SOUND, SOUND)
    lab.say(event="clear")
    assert outcomes(lab) == [("paused", 40), ("flushed", 40)]
    said = lab.pbx.sent.count(SOUND)
    lab.stream.read_binary(SOUND)
    assert lab.pbx.sent.count(SOUND) == said + 1
    lab.say(event="clear")
    assert len(outcomes(lab)) == 2


def test_a_clear_before_the_pbx_is_ready_is_no_interruption() -> None:
    """What waits for the PBX is not paused."""
    lab = Lab(is_connected=False)
    lab.stream.bot_connected()
    lab.stream.read_binary(SOUND)
    lab.mark(1)
    lab.say(event="clear")
    assert outcomes(lab) == []
    assert [each["isCleared"] for each in lab.of("mark")] == [True]


def test_a_bot_is_not_heard_while_its_action_runs() -> None:
    """What waits is dropped, as is what it says meanwhile, with its marks; a pause is over."""
    lab = Lab(barge_in="pause", voice=0.1)
    lab.stream.read_binary(SOUND * 50)
    lab.hear(SOUND, SOUND)
    lab.stream.send("1", ActionMessage("started"))
    assert lab.commands == ["flush", "pause", "flush", "resume"]
    said = lab.pbx.sent.count(SOUND)
    lab.stream.read_binary(SOUND)
    lab.mark(1)
    lab.wait(500)
    assert lab.pbx.sent.count(SOUND) == said
    assert [each["isCleared"] for each in lab.of("mark")] == [True]
    assert lab.metrics.dropped_frames.table() == {"action": 1}
    assert outcomes(lab) == [("paused", 40)]
    lab.stream.send("2", ActionMessage("ended", result={"digits": "1"}))
    assert json.loads(lab.bot.texts[-1])["result"] == {"digits": "1"}
    lab.stream.read_binary(SOUND)
    assert lab.pbx.sent.count(SOUND) == said + 1


def test_nothing_of_a_fork_is_heard() -> None:
    """The PBX gets nothing; marks come back at once, as cleared."""
    lab = Lab(is_fork=True)
    lab.stream.read_binary(SOUND)
    lab.mark(1)
    lab.wait(100)
    assert lab.pbx.sent == []
    assert [each["isCleared"] for each in lab.of("mark")] == [True]


def test_turns_of_both_sides_are_reported() -> None:
    """With the time from the end of what the caller says to the bot's first sound."""
    lab = Lab()
    lab.hear(*[SOUND] * 10, *[SILENCE] * 20)
    lab.stream.read_binary(SOUND * 10)
    lab.wait(600)
    assert [
        (each["by"], each["isSpeaking"], each["atMs"], each["heardMs"], each.get("latencyMs"))
        for each in lab.of("speech")
    ] == [
        ("caller", True, 0, 0, None),
        ("caller", False, 200, 0, None),
        ("bot", True, 610, 0, 410),
        ("bot", False, 800, 200, None),
    ]
    assert lab.metrics.turn_latency.series().total == pytest.approx(0.41)


def test_a_stream_that_ends_gives_its_detector_back() -> None:
    """The next sound at this gateway has it."""
    lab = Lab(barge_in="pause", voice=0.1)
    lab.stream.read_binary(SOUND * 50)
    lab.hear(SOUND, SOUND)
    lab.stream.end("stopped")
    lab.judges.lend(linear(8000)).hear(SOUND * 2)
    assert [each.windows for each in lab.models if each.windows] == [2]
