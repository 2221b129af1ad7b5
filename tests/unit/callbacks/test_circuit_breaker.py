"""A target's circuit breaker."""

from engine.callbacks.circuit_breaker import MAX_FAILURES, OPEN_S, CircuitBreaker


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
