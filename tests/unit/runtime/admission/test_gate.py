"""The gate: so many new calls a second, so many at once."""

from engine.runtime.admission.limits import RateLimiter
from tests.unit.runtime.harness.shard_bench import ManualClock


def test_a_burst_then_a_rate() -> None:
    """One second's worth at once, then as many as time gives."""
    clock = ManualClock()
    gate = RateLimiter(clock, 10, 1_000)
    assert [gate.try_take(0) for _ in range(12)] == [True] * 10 + [False] * 2
    clock.pass_ms(250)
    assert [gate.try_take(0) for _ in range(3)] == [True, True, False]
    clock.pass_ms(60_000)
    assert sum(gate.try_take(0) for _ in range(50)) == 10


def test_a_full_engine_takes_none() -> None:
    """At the most live calls there is no room, and a refusal uses none up."""
    gate = RateLimiter(ManualClock(), 1, 5)
    assert not gate.try_take(5)
    assert gate.try_take(4)
