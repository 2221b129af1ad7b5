"""A target's circuit."""

from engine.callbacks.circuit_breaker import MAX_FAILURES, OPEN_S, CircuitBreaker


def opened(at_s: float = 0) -> CircuitBreaker:
    """Make a circuit that has just opened."""
    circuit = CircuitBreaker()
    opens = [circuit.record_failure(at_s) for _ in range(MAX_FAILURES)]
    assert opens == [False] * (MAX_FAILURES - 1) + [True]
    return circuit


def test_it_opens_after_failures_in_a_row() -> None:
    """An arrival in between begins the count anew."""
    circuit = CircuitBreaker()
    for _ in range(MAX_FAILURES - 1):
        circuit.record_failure(0)
    circuit.record_success()
    for _ in range(MAX_FAILURES - 1):
        circuit.record_failure(0)
    assert circuit.allows(0)
    circuit.record_failure(0)
    assert not circuit.allows(0)


def test_nothing_goes_while_it_is_open() -> None:
    """It says how long that is."""
    circuit = opened(at_s=100)
    assert circuit.wait_s(110) == OPEN_S - 10
    assert not circuit.allows(100 + OPEN_S - 0.1)
    assert circuit.wait_s(100 + OPEN_S) == 0


def test_one_may_try() -> None:
    """Half open, one goes; its success closes it, its failure opens it for as long again."""
    circuit = opened()
    assert circuit.allows(OPEN_S)
    circuit.record_start()
    assert not circuit.allows(OPEN_S)
    assert not circuit.record_failure(OPEN_S)  # it was open: nobody need be told again
    assert not circuit.allows(OPEN_S + 1)
    circuit.record_start()
    circuit.record_success()
    assert circuit.is_closed
    assert circuit.allows(0)


def test_one_that_did_not_go() -> None:
    """It leaves its place to the next."""
    circuit = opened()
    circuit.record_start()
    circuit.record_cancel()
    assert circuit.allows(OPEN_S)


def test_those_that_went_before_it_opened() -> None:
    """Their late failures don't prolong it."""
    circuit = opened(at_s=0)
    circuit.record_failure(9)
    assert circuit.wait_s(9) == OPEN_S - 9
