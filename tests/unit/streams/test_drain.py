"""A delay that stays is reduced, and audio that is sent ahead is not."""

from collections.abc import Callable
from itertools import pairwise

import pytest

from streams.stream.drain import MAX_LEAD_MS, MAX_PER_STEP, BacklogDrain, Lead


def simulate(
    arrivals: list[float], is_silent: Callable[[int], bool] = lambda _: False
) -> list[tuple[float, float, bool]]:
    """Return time, backlog before it, and whether it was dropped, of each frame."""
    drain = BacklogDrain()
    busy_ms = 0.0
    found = []
    for number, now_ms in enumerate(arrivals):
        backlog_ms = max(0.0, busy_ms - now_ms)
        is_dropped = drain.drops(backlog_ms, is_silent(number), now_ms)
        if not is_dropped:
            busy_ms = max(busy_ms, now_ms) + 20
        found.append((now_ms, backlog_ms, is_dropped))
    return found


def live(begin_ms: int, end_ms: int) -> list[float]:
    """Return the times of frames in real time."""
    return [float(now_ms) for now_ms in range(begin_ms, end_ms, 20)]


def test_a_voice_in_real_time_loses_nothing() -> None:
    """Also if its frames come a little early or late."""
    arrivals = [now_ms + 9 * (n % 3) for n, now_ms in enumerate(live(0, 10_000))]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_silence_in_real_time_is_kept() -> None:
    """Nothing is late, also not after a pause without frames."""
    arrivals = [*live(0, 2_000), *live(3_000, 5_000)]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals, lambda _: True))


def test_a_backlog_is_gone_within_a_second() -> None:
    """Asterisk would keep ten frames at once for ever; no two of those dropped are neighbours."""
    arrivals = sorted([*live(0, 4000), *[1000.0] * 10])
    found = simulate(arrivals)
    assert all(backlog_ms <= 20 for now_ms, backlog_ms, _ in found if now_ms >= 2000)
    dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
    assert len(dropped) <= 10
    assert all(later - earlier > 1 for earlier, later in pairwise(dropped))


def test_a_delay_of_one_frame_costs_no_sound() -> None:
    """It is dropped when there is silence."""
    arrivals = sorted([*live(0, 4000), 1000.0])
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))
    found = simulate(arrivals, lambda number: number > 100)
    assert sum(is_dropped for _, _, is_dropped in found) == 1


def test_silence_is_dropped_first() -> None:
    """If there is enough of it, every sound is heard."""
    arrivals = sorted([*live(0, 4000), *[1000.0] * 10])
    found = simulate(arrivals, lambda number: number % 10 > 4)
    dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
    assert dropped
    assert sum(number % 10 <= 4 for number in dropped) <= 3
    assert all(backlog_ms <= 20 for now_ms, backlog_ms, _ in found if now_ms >= 2000)


def test_no_sound_is_dropped_where_silence_suffices() -> None:
    """Single frames with a sound, as of a voice that hesitates."""
    for times in range(1, 20):
        arrivals = sorted([*live(0, 4000), *[1000.0] * times])
        found = simulate(arrivals, lambda number: number % 5 != 0)
        dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
        assert not [number for number in dropped if number % 5 == 0]
        assert all(backlog_ms <= 20 for now_ms, backlog_ms, _ in found if now_ms >= 2000)


def test_speech_that_is_sent_ahead_is_kept() -> None:
    """A bot that sends ten times as fast as it speaks, again and again."""
    arrivals = [start + n * 2.0 for start in (0.0, 5000.0, 10_000.0) for n in range(200)]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_a_lead_is_kept() -> None:
    """A bot that begins with 200 ms at once, and goes on in real time, wants that buffer."""
    arrivals = sorted([*[0.0] * 10, *live(20, 5000)])
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_chunks_are_kept() -> None:
    """A bot that sends 200 ms every 200 ms."""
    arrivals = [float(start) for start in range(0, 5000, 200) for _ in range(10)]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


@pytest.mark.parametrize("stall_ms", [500, 1_000, 3_000])
def test_what_a_stall_has_held_back_is_no_lead(stall_ms: int) -> None:
    """A bot in real time that stood still would be late for the rest of the call."""
    back_ms = 2000 + stall_ms
    arrivals = [
        *live(0, 2000),
        *[float(back_ms)] * (stall_ms // 20),
        *live(back_ms, back_ms + 8000),
    ]
    found = simulate(arrivals, lambda number: number % 5 != 0)
    dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
    assert not [number for number in dropped if number % 5 == 0]
    late_ms = back_ms + 500 + stall_ms * 3 // 2
    assert all(backlog_ms <= 20 for now_ms, backlog_ms, _ in found if now_ms >= late_ms)


@pytest.mark.parametrize("lead_ms", [100, 200, 400])
def test_a_lead_is_kept_after_a_silence(lead_ms: int) -> None:
    """A bot with a buffer fills it at the beginning of each sentence."""
    arrivals = [
        now_ms
        for start in range(0, 20_000, 4_000)
        for now_ms in [*[float(start)] * (lead_ms // 20), *live(start + 20, start + 3_000)]
    ]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_chunks_with_a_silence_between_them_are_kept() -> None:
    """A bot that sends a second of audio each second."""
    arrivals = [float(start) for start in range(0, 10_000, 1_000) for _ in range(50)]
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_stalls_in_a_row_leave_no_delay() -> None:
    """Each holds more back before the one before it is made up for."""
    arrivals = live(0, 2000)
    now_ms = 2000
    for stall_ms in (1_000, 600, 900):
        now_ms += stall_ms
        arrivals += [*[float(now_ms)] * (stall_ms // 20), *live(now_ms, now_ms + 240)]
        now_ms += 240
    arrivals += live(now_ms, now_ms + 10_000)
    found = simulate(arrivals, lambda number: number % 5 != 0)
    dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
    assert not [number for number in dropped if number % 5 == 0]
    assert all(backlog_ms <= 20 for at_ms, backlog_ms, _ in found if at_ms >= now_ms + 4_000)


def test_a_lead_ends_with_a_step_in_real_time() -> None:
    """Each step has its own count, and one frame late and one early are allowed in it."""
    lead = Lead()
    lead.begin(float("inf"), 0.0)
    for began_ms in (0, 100, 200):
        for number in range(MAX_PER_STEP + 1):
            lead.take(100.0 + number, began_ms + number * 10.0)
    for number in range(MAX_PER_STEP):
        lead.take(90.0, 300.0 + number * 10)
    assert lead.is_growing
    lead.take(200.0, 400.0)
    assert (lead.is_growing, lead.ms) == (False, 100.0 + MAX_PER_STEP)


@pytest.mark.parametrize(("burst", "lead_ms"), [(10, 180.0), (11, 40.0), (26, 40.0), (27, 520.0)])
def test_a_burst_after_a_silence_is_a_lead_if_it_has_another_length(
    burst: int, lead_ms: float
) -> None:
    """A stall of 400 ms holds back at least half of that, and hardly more; it adds no lead."""
    lead = Lead()
    for gap_ms, began_ms, count in ((float("inf"), 0.0, 3), (400.0, 1_000.0, burst)):
        lead.begin(gap_ms, began_ms)
        for number in range(count):
            lead.take(number * 20.0, began_ms)
        for late_ms in range(20, 220, 20):
            if lead.is_growing:
                lead.take(0.0, began_ms + late_ms)
    assert (lead.is_growing, lead.ms) == (False, lead_ms)


def after_lead() -> BacklogDrain:
    """Return the drain of a bot that has sent frames in real time for 100 ms."""
    drain = BacklogDrain()
    assert not any(drain.drops(0.0, True, now_ms) for now_ms in live(0, 120))
    return drain


@pytest.mark.parametrize(
    ("arrivals", "backlog_ms", "end_ms", "is_dropped"),
    [
        ([130, 160, 190, 210], 20.0, 220, True),
        ([130, 160, 190, 210], 19.0, 220, False),
        ([130, 160, 190, 210], 20.0, 339, True),
        ([130, 160, 190, 210], 20.0, 340, False),
        ([130, 160, 190], 20.0, 220, False),
        ([*range(120, 200, 10)], 20.0, 220, True),
        ([*range(120, 210, 10)], 20.0, 220, False),
        ([*range(120, 160, 10)], 20.0, 219, False),
    ],
)
def test_a_backlog_is_a_delay_if_frames_come_at_the_speed_of_a_voice(
    arrivals: list[float], backlog_ms: float, end_ms: float, *, is_dropped: bool
) -> None:
    """Four to eight of them in about 120 ms, all of which had the backlog before them."""
    drain = after_lead()
    assert not any(drain.drops(backlog_ms, True, now_ms) for now_ms in arrivals)
    assert drain.drops(backlog_ms, True, end_ms) is is_dropped
    drain = after_lead()
    for number, now_ms in enumerate(arrivals):
        drain.drops(0.0 if number == 1 else backlog_ms, True, now_ms)
    assert not drain.drops(backlog_ms, True, end_ms)


@pytest.mark.parametrize(
    ("silent", "sounds"), [(0, "x-x---x-----"), (1, "x-----x-----"), (2, "------x-x---")]
)
def test_sounds_are_dropped_while_a_delay_lasts(silent: int, sounds: str) -> None:
    """Each second one, until one frame of delay is left; not while silence is dropped instead."""
    drain = after_lead()
    assert not any(drain.drops(60.0, False, now_ms) for now_ms in live(120, 220))
    first = [drain.drops(60.0, number < silent, 220.0 + 20 * number) for number in range(6)]
    assert first == [number < silent for number in range(6)]
    found = [drain.drops(60.0, False, now_ms) for now_ms in live(340, 580)]
    assert "".join("-x"[each] for each in found) == sounds


def test_a_long_lead_loses_silence() -> None:
    """Also what was held back before the first frame could arrive looks like a lead."""
    arrivals = [*[0.0] * 50, *live(0, 10_000)]
    found = simulate(arrivals, lambda number: number % 5 != 0)
    dropped = [number for number, (_, _, is_dropped) in enumerate(found) if is_dropped]
    assert not [number for number in dropped if number % 5 == 0]
    assert all(backlog_ms <= MAX_LEAD_MS for at_ms, backlog_ms, _ in found if at_ms >= 3_000)
    assert found[-1][1] >= MAX_LEAD_MS - 20
    assert not any(is_dropped for _, _, is_dropped in simulate(arrivals))


def test_what_is_held_back_arrives_in_parts() -> None:
    """On a busy machine, as everything else."""
    parts = [float(4000 + n * 4) for n in range(100)]
    arrivals = sorted([*live(0, 2000), *parts, *live(4000, 14_000)])
    found = simulate(arrivals, lambda number: number % 5 != 0)
    assert all(backlog_ms <= 20 for at_ms, backlog_ms, _ in found if at_ms >= 8_000)
