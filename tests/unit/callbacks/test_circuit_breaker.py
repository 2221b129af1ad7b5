"""A target's circuit."""

from engine.callbacks.circuit_breaker import MOST_FAILURES, OPEN_S, Circuit


def opened(at_s: float = 0) -> Circuit:
    """Make a circuit that has just opened."""
    circuit = Circuit()
    opens = [circuit.failed(at_s) for _ in range(MOST_FAILURES)]
    assert opens == [False] * (MOST_FAILURES - 1) + [True]
    return circuit


def test_it_opens_after_failures_in_a_row() -> None:
    """An arrival in between begins the count anew."""
    circuit = Circuit()
    for _ in range(MOST_FAILURES - 1):
        circuit.failed(0)
    circuit.succeeded()
    for _ in range(MOST_FAILURES - 1):
        circuit.failed(0)
    assert circuit.allows(0)
    circuit.failed(0)
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
    circuit.began()
    assert not circuit.allows(OPEN_S)
    assert not circuit.failed(OPEN_S)  # it was open: nobody need be told again
    assert not circuit.allows(OPEN_S + 1)
    circuit.began()
    circuit.succeeded()
    assert circuit.is_closed
    assert circuit.allows(0)


def test_one_that_did_not_go() -> None:
    """It leaves its place to the next."""
    circuit = opened()
    circuit.began()
    circuit.withdrew()
    assert circuit.allows(OPEN_S)


def test_those_that_went_before_it_opened() -> None:
    """Their late failures don't prolong it."""
    circuit = opened(at_s=0)
    circuit.failed(9)
    assert circuit.wait_s(9) == OPEN_S - 9
