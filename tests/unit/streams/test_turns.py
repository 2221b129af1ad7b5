"""The beginning and the end of speech, and turns, in virtual time."""

from streams.stream.turns import HANGOVER_MS, MIN_LEVEL, OVER_NOISE, SpeechDetector, Turn, Turns


def hear(detector: SpeechDetector, levels: list[int], begin_ms: int = 0) -> list[tuple[int, bool]]:
    """Return when speech began and ended."""
    found = []
    for number, level in enumerate(levels, 1):
        now_ms = begin_ms + number * 20
        if detector.hear(level, now_ms):
            found.append((now_ms, detector.is_speaking))
    return found


def test_speech_is_noticed_after_two_frames() -> None:
    """And its end after 300 ms; both times are those of the sound itself."""
    detector = SpeechDetector()
    changes = hear(detector, [0] * 10 + [3000] * 20 + [0] * 20)
    assert changes == [(240, True), (900, False)]
    assert detector.began_ms == 200
    assert detector.ended_ms == 600


def test_a_click_is_no_speech() -> None:
    """One frame."""
    assert hear(SpeechDetector(), [0] * 10 + [9000] + [0] * 20) == []


def test_a_pause_between_words_is_no_end() -> None:
    """200 ms."""
    assert len(hear(SpeechDetector(), [3000] * 10 + [0] * 10 + [3000] * 10)) == 1


def test_the_noise_of_a_line_is_no_speech() -> None:
    """What is always there becomes the measure."""
    detector = SpeechDetector()
    assert hear(detector, [350] * 200 + [900] * 50) == []
    assert len(hear(detector, [3000] * 5, 5000)) == 1


def test_speech_continues_at_half_the_level_that_begins_it() -> None:
    """Three times the noise of the line, and at least a level that a quiet line never has."""
    for begins, margin in ((MIN_LEVEL, 0), (3 * 350, 9)):
        noise = [begins // OVER_NOISE] * 200
        assert hear(SpeechDetector(), [*noise, *[begins - margin - 1] * 5]) == []
        detector = SpeechDetector()
        loud = [*[begins + margin] * 2, *[begins // 2 + margin] * 50]
        changes = hear(detector, [*noise, *loud, *[begins // 2 - margin - 1] * 15])
        assert changes == [(4_040, True), (5_340, False)]
        assert detector.quiet_ms == HANGOVER_MS


def test_turns_have_latencies() -> None:
    """From the end of what the caller said to the first sound of the bot."""
    turns = Turns()
    for now_ms in range(20, 500, 20):
        turns.hear_caller(3000, now_ms)
    found = [turns.hear_caller(0, now_ms) for now_ms in range(500, 1000, 20)]
    assert [each for each in found if each] == [Turn(True, False, 480)]
    assert turns.hear_bot(0.0, 1490.0) is None
    assert turns.hear_bot(1490.0, 1490.0) is None
    assert turns.hear_bot(1520.0, 1500.0) == Turn(False, True, 1500, 1020)
    assert turns.hear_bot(1520.0, 1600.0) is None
    assert turns.hear_bot(1520.0, 1820.0) == Turn(False, False, 1520)
    assert turns.hear_bot(2020.0, 2000.0) == Turn(False, True, 2000)


def test_a_bot_that_speaks_at_the_same_time_has_no_latency() -> None:
    """It does not respond to what the caller still says."""
    turns = Turns()
    for now_ms in range(20, 500, 20):
        turns.hear_caller(3000, now_ms)
    assert turns.hear_bot(500.0, 480.0) == Turn(False, True, 480)


def test_a_fast_bot_has_a_latency() -> None:
    """It begins before 300 ms of quiet have passed."""
    turns = Turns()
    for now_ms in range(20, 500, 20):
        turns.hear_caller(3000, now_ms)
    for now_ms in range(500, 600, 20):
        turns.hear_caller(0, now_ms)
    assert turns.hear_bot(620.0, 600.0) == Turn(False, True, 600, 120)
