"""What is sent to a PBX, in virtual time."""

import pytest

from streams.stream.audio import ULAW, linear, ulaw_sample
from streams.stream.playout import SETTLED_MS, TAIL_MS, Playout, QueueFull
from tests.unit.streams.recording_sink import RecordingSink

SILENCE = ULAW.silence
LOUD = b"\x80\x00" * 80


def frame(number: int) -> bytes:
    """Return a loud frame with a number."""
    return bytes([number]) + LOUD[1:]


@pytest.fixture
def sink() -> RecordingSink:
    """Return a PBX that keeps what it gets."""
    return RecordingSink()


@pytest.fixture
def playout(sink: RecordingSink) -> Playout:
    """Return a playout that has begun at 0, with its first frame of silence."""
    made = Playout(sink, ULAW)
    made.start(0.0)
    assert sink.taken() == [SILENCE]
    return made


def run(playout: Playout, begin_ms: int, end_ms: int) -> None:
    """Let time pass, as the gateway's clock does."""
    for now_ms in range(begin_ms, end_ms, 10):
        playout.tick(float(now_ms))


def test_silence_is_sent_in_real_time(playout: Playout, sink: RecordingSink) -> None:
    """A second has 50 frames, with one more at most ahead."""
    run(playout, 10, 1010)
    assert sink.taken() == [SILENCE] * 50


def test_audio_does_not_wait_behind_silence(playout: Playout, sink: RecordingSink) -> None:
    """What is left of the silence is flushed."""
    playout.tick(10.0)
    playout.add(frame(1), 12.0)
    assert sink.taken() == [SILENCE, "flush", frame(1)]


def test_audio_that_may_not_be_played_yet_is_not_flushed(
    playout: Playout, sink: RecordingSink
) -> None:
    """Asterisk may stand still for as long as the gateway takes a bot for late."""
    playout.add(frame(1), 20.0)
    run(playout, 30, 20 + SETTLED_MS)
    playout.add(frame(2), 20.0 + SETTLED_MS)
    run(playout, 20 + SETTLED_MS, 60 + 2 * SETTLED_MS)
    playout.add(frame(3), 62.0 + 2 * SETTLED_MS)
    commands = [each for each in sink.taken() if each != SILENCE]
    assert commands == [frame(1), frame(2), "flush", frame(3)]


def test_a_clear_drops_what_may_not_be_played_yet(playout: Playout, sink: RecordingSink) -> None:
    """Asterisk may stand still; later there is nothing to drop."""
    playout.add(frame(1), 20.0)
    playout.clear(60.0)
    assert sink.taken() == [frame(1), "flush"]
    playout.clear(61.0)
    assert sink.taken() == []
    playout.add_mark("m1", 70.0)
    playout.clear(80.0)
    playout.tick(90.0)
    playout.clear(91.0)
    assert sink.taken() == ["mark m1", "flush", SILENCE, "flush"]


def test_at_most_100_ms_are_ahead(playout: Playout, sink: RecordingSink) -> None:
    """The rest follows in real time, in order."""
    frames = [frame(n) for n in range(50)]
    playout.add(b"".join(frames[:49]), 30.0)
    assert sink.taken() == frames[:5]
    playout.add(frames[49], 35.0)
    run(playout, 40, 60)
    assert sink.taken() == frames[5:6]
    run(playout, 60, 30 + 50 * 20 + 1)
    assert sink.taken() == frames[6:]


def test_a_late_frame_is_not_replaced_by_silence(playout: Playout, sink: RecordingSink) -> None:
    """The network of a bot that sends in real time is not exact."""
    playout.add(frame(1), 30.0)
    run(playout, 40, 110)
    playout.add(frame(2), 108.0)
    assert sink.taken() == [frame(1), frame(2)]
    playout.tick(187.0)
    assert sink.taken() == []
    playout.tick(188.0)
    playout.tick(198.0)
    assert sink.taken() == [SILENCE] * 2


def test_frames_are_cut_from_messages_of_any_size(playout: Playout, sink: RecordingSink) -> None:
    """A rest waits for what follows it, and is filled up when nothing does."""
    data = b"".join(frame(n) for n in range(3))
    playout.add(data[:100], 30.0)
    playout.add(data[100:400], 31.0)
    assert sink.taken() == [frame(0), frame(1)]
    playout.tick(31.0 + TAIL_MS - 1)
    assert sink.taken() == []
    playout.tick(31.0 + TAIL_MS)
    assert sink.taken() == [data[320:400] + SILENCE[80:]]


def test_a_mark_follows_its_audio(playout: Playout, sink: RecordingSink) -> None:
    """Behind what is queued, and behind a frame that is not complete."""
    playout.add(frame(1) * 6 + LOUD[:80], 30.0)
    playout.add_mark("m1", 30.0)
    assert sink.taken() == [frame(1)] * 5
    run(playout, 60, 90)
    assert sink.taken() == [frame(1), LOUD[:80] + SILENCE[80:], "mark m1"]
    assert playout.mark_heard("m1")
    assert not playout.mark_heard("m1")


def test_a_mark_behind_silence_is_not_flushed(playout: Playout, sink: RecordingSink) -> None:
    """Audio waits for the silence then: with that, the mark would be lost."""
    playout.tick(10.0)
    playout.add_mark("m1", 11.0)
    playout.add(frame(1), 12.0)
    assert sink.taken() == [SILENCE, "mark m1", frame(1)]


def test_what_was_heard_is_counted(playout: Playout) -> None:
    """Frames of the bot that were played; neither silence nor what waits."""
    playout.add(frame(1) * 10, 30.0)
    assert playout.heard_ms(49.0) == 0
    assert playout.heard_ms(50.0) == 20
    run(playout, 60, 500)
    assert playout.heard_ms(500.0) == 200
    assert not playout.is_audible(500.0)


def test_a_bot_that_sends_silence_is_not_audible(playout: Playout) -> None:
    """A sound of the caller interrupts nothing then."""
    playout.add(SILENCE * 3, 30.0)
    assert not playout.is_audible(40.0)
    playout.add(LOUD, 40.0)
    assert playout.is_audible(100.0)
    assert not playout.is_audible(111.0)


def test_a_clear_drops_all(playout: Playout, sink: RecordingSink) -> None:
    """What was played before counts; marks are returned in order."""
    playout.add(frame(1) * 100, 30.0)
    playout.add_mark("m1", 30.0)
    playout.add_mark("m2", 30.0)
    playout.add(frame(2)[:80], 30.0)
    sink.taken()
    assert playout.clear(75.0) == ["m1", "m2"]
    assert sink.taken() == ["flush"]
    assert not playout.is_audible(75.0)
    assert not playout.marks
    assert playout.heard_ms(1000.0) == 40
    playout.tick(80.0)
    assert sink.taken() == [SILENCE]


def test_a_pause_loses_nothing(playout: Playout, sink: RecordingSink) -> None:
    """Time stands still: the count, and what waits."""
    frames = [frame(n) for n in range(30)]
    playout.add(b"".join(frames), 30.0)
    playout.pause(100.0)
    run(playout, 110, 400)
    assert playout.heard_ms(400.0) == 60
    assert playout.is_audible(400.0)
    playout.resume(400.0)
    run(playout, 410, 400 + 27 * 20 + 31)
    assert sink.taken() == [*frames[:5], "pause", "resume", *frames[5:]]
    assert playout.heard_ms(400.0 + 27 * 20 + 31) == 600


def test_a_pause_moves_the_end_of_what_is_heard(playout: Playout, sink: RecordingSink) -> None:
    """A second pause of the same sound is none."""
    playout.add(frame(1), 30.0)
    playout.pause(40.0)
    playout.pause(60.0)
    playout.resume(140.0)
    playout.resume(150.0)
    assert playout.audible_until_ms == 150.0
    playout.clear(130.0 + SETTLED_MS)
    assert [each for each in sink.taken() if each != SILENCE] == [
        frame(1), "pause", "resume", "flush",
    ]  # fmt: skip


@pytest.mark.parametrize(("frames", "end_ms"), [(2, 240), (4, 270), (5, 280), (6, 300)])
def test_the_clock_follows_the_queue_of_the_pbx(
    playout: Playout, sink: RecordingSink, frames: int, end_ms: int
) -> None:
    """Every twelfth frame, of a model that has 90 ms ahead; part of a frame is no difference."""
    playout.add(frame(1) * 12, 30.0)
    run(playout, 40, 160)
    assert sink.questions == 0
    playout.tick(160.0)
    assert sink.questions == 1
    for _ in range(2):  # a second answer has no question
        playout.queue_known(frames)
    assert playout.audible_until_ms == end_ms
    assert [playout.heard_ms(at_ms) for at_ms in (end_ms - 1, end_ms)] == [220, 240]
    playout.add(frame(1) * 11, end_ms)
    run(playout, end_ms, end_ms + 500)
    assert sink.questions == 1
    playout.add(frame(1), end_ms + 500)
    assert sink.questions == 2


@pytest.mark.parametrize("command", ["mark", "pause", "clear"])
def test_an_answer_about_another_queue_changes_nothing(playout: Playout, command: str) -> None:
    """Marks are in that queue, too; a pause or a clear has changed it since the question."""
    playout.add(frame(1) * 12, 30.0)
    run(playout, 40, 170)
    match command:
        case "mark":
            playout.add_mark("m1", 160.0)
        case "pause":
            playout.pause(160.0)
            playout.resume(160.0)
        case _:
            playout.clear(160.0)
            playout.add(frame(1) * 5, 170.0)
    playout.queue_known(50)
    assert playout.audible_until_ms == 270.0


def live(playout: Playout, begin_ms: int, end_ms: int) -> None:
    """Have a bot send frames in real time, of which each fifth has a sound."""
    for now_ms in range(begin_ms, end_ms, 20):
        playout.add(SILENCE if now_ms % 100 else LOUD, now_ms)
        run(playout, now_ms, now_ms + 20)


def test_a_delay_is_made_up_for(playout: Playout, sink: RecordingSink) -> None:
    """Frames with silence are dropped, and no sound is."""
    live(playout, 100, 2_000)
    playout.add(LOUD * 10, 2_000.0)
    live(playout, 2_000, 4_000)
    assert sink.taken().count(LOUD) == 19 + 10 + 20
    assert playout.audible_until_ms <= 3_960


def test_a_lead_after_a_clear_is_kept(playout: Playout) -> None:
    """What a bot says next begins something new, however soon that is."""
    live(playout, 100, 2_000)
    playout.clear(2_000.0)
    heard_ms = playout.heard_ms(2_000.0)
    playout.add(LOUD * 5, 2_000.0)
    live(playout, 2_000, 4_000)
    run(playout, 4_000, 4_300)
    assert playout.heard_ms(4_300.0) == heard_ms + 100 + 2_000


def test_audio_before_the_pbx_is_ready_waits(sink: RecordingSink) -> None:
    """Nothing is sent to a PBX that would lose it."""
    playout = Playout(sink, ULAW)
    playout.add_mark("m1", 5.0)
    playout.add(frame(1), 5.0)
    playout.add_mark("m2", 5.0)
    playout.resume(5.0)
    assert (playout.is_paused, playout.is_audible(5.0)) == (False, True)
    assert sink.taken() == []
    playout.start(10.0)
    assert sink.taken() == ["mark m1", frame(1), "mark m2"]
    assert playout.audible_until_ms == 30.0


def test_a_clear_before_the_pbx_is_ready_is_not_sent(sink: RecordingSink) -> None:
    """Nothing of the bot's is there that it could drop."""
    playout = Playout(sink, ULAW)
    playout.add(frame(1), 0.0)
    playout.add_mark("m1", 0.0)
    assert playout.clear(10.0) == ["m1"]
    playout.start(20.0)
    assert sink.taken() == [SILENCE]


def test_the_queue_has_an_end(playout: Playout) -> None:
    """Ten minutes."""
    playout.add(LOUD * (10 * 60 * 50 + 5), 30.0)
    with pytest.raises(QueueFull):
        playout.add(LOUD, 30.0)


@pytest.mark.parametrize(("rate", "name", "size"), [(8000, "slin", 320), (24000, "slin24", 960)])
def test_formats_of_16_bits(rate: int, name: str, size: int) -> None:
    """As Asterisk names them."""
    audio = linear(rate)
    assert (audio.name, audio.frame_bytes, audio.silence) == (name, size, b"\x00" * size)


@pytest.mark.parametrize(
    ("code", "sample"),
    [(0x00, -32_124), (0x0F, -16_764), (0x6A, -212), (0x7F, 0), (0x80, 32_124), (0x8F, 16_764),
     (0xC5, 1_564), (0xFE, 8)],
)  # fmt: skip
def test_samples_of_ulaw(code: int, sample: int) -> None:
    """As the table of G.711 has them."""
    assert ulaw_sample(code) == sample


@pytest.mark.parametrize(("sample", "level"), [(0, 0), (8192, 8192), (-8192, 7936)])
def test_the_level_of_16_bits(sample: int, level: int) -> None:
    """The mean magnitude, up to the lower byte."""
    assert linear(8000).level(sample.to_bytes(2, "little", signed=True) * 160) == level


def test_the_level_of_ulaw() -> None:
    """Silence has none; full scale is that of G.711."""
    assert ULAW.level(SILENCE) == 0
    assert ULAW.level(b"\x00\x80" * 80) == 32_000
    assert ULAW.level(b"\xce" * 160) == 896


def test_the_level_of_nothing() -> None:
    """A message of a PBX may be empty."""
    assert ULAW.level(b"") == 0
    assert linear(8000).level(b"") == 0
