"""A delay that stays is reduced, and audio that is sent ahead is not."""

from collections.abc import Callable

from streams.stream.drain import BacklogDrain


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


def test_a_backlog_is_gone_within_a_second() -> None:
    """Ten frames at once into a stream in real time: Asterisk would keep them for ever."""
    arrivals = sorted([*live(0, 4000), *[1000.0] * 10])
    found = simulate(arrivals)
    assert all(backlog_ms <= 20 for now_ms, backlog_ms, _ in found if now_ms >= 2000)
    assert sum(is_dropped for _, _, is_dropped in found) <= 10


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
