"""A target's queue: concurrency, rate and backlog."""

import pytest

from engine.callbacks.shard_queues import CallQueue
from engine.callbacks.target_queue import (
    MAX_FAILURES,
    MAX_READY_CALLS,
    OPEN_S,
    CircuitBreaker,
    RateLimit,
    TargetQueue,
)
from tests.harness.shards import at
from wire.callbacks.account import PutCallback


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now_s = 1_000.0

    def monotonic(self) -> float:
        return self.now_s


def target_with(clock: Clock, calls: int, rate_limit: RateLimit) -> TargetQueue:
    """Return a target with calls that wait."""
    target = TargetQueue("acme auto-set", CircuitBreaker(), clock.monotonic)
    target.rate_limit = rate_limit
    target.ready.extend(
        CallQueue(at(3), f"c{number}", target.delivery_key) for number in range(calls)
    )
    return target


def proven(target: TargetQueue) -> TargetQueue:
    """Return the target after so many successes that its own limit counts."""
    for _ in range(target.rate_limit.concurrency):
        target.record_result(is_target_up=True)
    return target


def start_all(target: TargetQueue) -> int:
    """Start what the target takes now; returns how many deliveries."""
    count = 0
    while target.start_next() is not None:
        count += 1
    return count


def test_slow_start() -> None:
    """A target gets 1, 2, 4 … deliveries at once while all succeed, up to its own limit."""
    target = target_with(Clock(), 50, RateLimit(concurrency=7))
    rounds = []
    for _ in range(5):
        rounds.append(start_all(target))
        target.in_flight = 0
        for _ in range(rounds[-1]):
            target.record_result(is_target_up=True)
    assert rounds == [1, 2, 4, 7, 7]


def test_a_failure_halves_the_concurrency() -> None:
    """One event that the customer rejects leaves room for others; repeated ones leave one."""
    target = proven(target_with(Clock(), 50, RateLimit(concurrency=8)))
    found = []
    for _ in range(4):
        target.record_result(is_target_up=False)
        found.append(target.concurrency)
    assert found == [4, 2, 1, 1]
    target.record_result(is_target_up=True)
    assert start_all(target) == 2


def test_an_open_circuit_starts_slowly_again() -> None:
    """However many deliveries were allowed before, the target gets one at a time."""
    target = proven(target_with(Clock(), 500, RateLimit(concurrency=256)))
    while not target.record_result(is_target_up=False):
        pass
    assert target.concurrency == 1


def test_concurrency() -> None:
    """The next delivery starts when one ends."""
    target = proven(target_with(Clock(), 5, RateLimit(concurrency=2)))
    assert [target.start_next() is not None for _ in range(3)] == [True, True, False]
    target.in_flight -= 1
    assert target.start_next() is not None


def test_rate() -> None:
    """Deliveries are spread evenly; a quiet time allows no burst."""
    clock = Clock()
    target = proven(target_with(clock, 50, RateLimit(per_s=10)))
    clock.now_s += 60
    started = 0
    for _ in range(100):
        started += target.start_next() is not None
        clock.now_s += 0.01
    assert 10 <= started <= 12
    target.start_next()
    assert target.rate_limit_wait_s() == pytest.approx(0.1, abs=0.02)


def test_only_waiting_calls_wait_for_the_rate() -> None:
    """Without a waiting call, at full concurrency, or when it allows one, it delays nothing."""
    clock = Clock()
    target = proven(target_with(clock, 4, RateLimit(concurrency=3, per_s=4)))
    assert target.rate_limit_wait_s() is None
    while target.start_next() is not None:
        pass
    assert target.rate_limit_wait_s() == 0.25
    target.rate_limit = RateLimit(concurrency=target.in_flight, per_s=4)
    assert target.rate_limit_wait_s() is None
    target.rate_limit = RateLimit(concurrency=3, per_s=4)
    clock.now_s += 0.25
    assert target.rate_limit_wait_s() is None
    clock.now_s -= 0.25
    target.ready.clear()
    assert target.rate_limit_wait_s() is None


def test_the_limits_of_an_account_without_settings() -> None:
    """They are the defaults of an account that sets only its target."""
    defaults = PutCallback("https://x.example/status")
    assert RateLimit(defaults.concurrency, defaults.per_s) == RateLimit()


def test_first_in_first_out() -> None:
    target = proven(target_with(Clock(), 3, RateLimit()))
    found = [call.call_id for _ in range(3) if (call := target.start_next())]
    assert found == ["c0", "c1", "c2"]


def test_an_open_circuit_empties_the_queue() -> None:
    """Waiting calls go back to the store, and no other call has room."""
    clock = Clock()
    target = proven(target_with(clock, 8, RateLimit()))
    for _ in range(5):
        target.start_next()
    opened = [target.record_result(is_target_up=False) for _ in range(5)]
    assert opened[-1]
    assert len(target.take_blocked()) == 3
    assert not target.has_room()
    assert target.retry_delay_s() == OPEN_S
    clock.now_s += OPEN_S
    assert target.has_room()


def test_one_delivery_probes_a_target() -> None:
    """No call has room beside it; its success makes the earlier failures count no more."""
    clock = Clock()
    target = target_with(clock, 1, RateLimit())
    while not target.record_result(is_target_up=False):
        pass
    assert target.start_next() is None
    clock.now_s += OPEN_S
    assert start_all(target) == 1
    assert not target.has_room()
    assert not target.record_result(is_target_up=True)
    assert target.has_room()
    failures = [target.record_result(is_target_up=False) for _ in range(MAX_FAILURES)]
    assert failures == [False] * (MAX_FAILURES - 1) + [True]


def test_one_call_waits_to_probe_a_target() -> None:
    """The others try again later: only one event is sent to a target that may be down."""
    clock = Clock()
    target = target_with(clock, 1, RateLimit())
    while target.circuit.is_closed:
        target.circuit.record_failure(clock.now_s)
    clock.now_s += OPEN_S
    assert not target.has_room()
    target.ready.clear()
    assert target.has_room()


def test_the_backlog_is_limited() -> None:
    """Further calls stay in the store."""
    target = target_with(Clock(), MAX_READY_CALLS, RateLimit())
    assert not target.has_room()
    assert target.retry_delay_s() > 0
    target.ready.popleft()
    assert target.has_room()


def test_unused() -> None:
    """A target without deliveries for a while may be removed."""
    clock = Clock()
    target = target_with(clock, 1, RateLimit())
    clock.now_s += 200
    assert not target.is_unused(120)
    target.start_next()
    target.in_flight -= 1
    clock.now_s += 119
    assert not target.is_unused(120)
    clock.now_s += 2
    assert target.is_unused(120)


def opened_circuit(at_s: float = 0) -> CircuitBreaker:
    """Return a circuit that has just opened."""
    circuit = CircuitBreaker()
    opens = [circuit.record_failure(at_s) for _ in range(MAX_FAILURES)]
    assert opens == [False] * (MAX_FAILURES - 1) + [True]
    return circuit


def test_it_opens_after_failures_in_a_row() -> None:
    """A success in between resets the count."""
    circuit = CircuitBreaker()
    for _ in range(MAX_FAILURES - 1):
        circuit.record_failure(0)
    circuit.record_success()
    for _ in range(MAX_FAILURES - 1):
        circuit.record_failure(0)
    assert circuit.allows(0)
    circuit.record_failure(0)
    assert not circuit.allows(0)


def test_no_delivery_while_it_is_open() -> None:
    """`wait_s` returns how long it stays open."""
    circuit = opened_circuit(at_s=100)
    assert circuit.wait_s(110) == OPEN_S - 10
    assert not circuit.allows(100 + OPEN_S - 0.1)
    assert circuit.wait_s(101 + OPEN_S) == 0
    assert CircuitBreaker().wait_s(100) == 0


def test_half_open_one_event_probes() -> None:
    """Its success closes the circuit; its failure opens it for as long again."""
    circuit = opened_circuit()
    assert circuit.allows(OPEN_S)
    circuit.record_start()
    assert not circuit.allows(OPEN_S)
    assert not circuit.record_failure(OPEN_S)  # already open: reported once
    assert not circuit.allows(OPEN_S + 1)
    circuit.record_start()
    circuit.record_success()
    assert circuit.is_closed
    assert circuit.allows(0)


def test_a_cancelled_probe() -> None:
    """Another event may probe instead."""
    circuit = opened_circuit()
    circuit.record_start()
    circuit.record_cancel()
    assert circuit.allows(OPEN_S)


def test_late_failures() -> None:
    """Failures of deliveries that began before it opened don't prolong it."""
    circuit = opened_circuit(at_s=0)
    circuit.record_failure(9)
    assert circuit.wait_s(9) == OPEN_S - 9
