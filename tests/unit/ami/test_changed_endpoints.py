"""An endpoint is asked about a few times in a round."""

from engine.ami.changed_endpoints import (
    BATCH,
    MAX_UNKNOWN,
    QUESTIONS,
    ROUND_S,
    ChangedEndpoints,
)


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


def _round(changed: ChangedEndpoints) -> list[str]:
    """Return all names in the queue."""
    if changed.is_due:
        changed.enqueue()
    names: list[str] = []
    while batch := changed.take():
        assert len(batch) <= BATCH
        names += [name for name, _ in batch]
    return names


def test_an_endpoint_is_in_a_round_a_few_times() -> None:
    """However many events name it; the first one counts for the time that it has waited."""
    clock = Clock()
    changed = ChangedEndpoints(lambda _: True, clock)
    assert changed.wait_s == float("inf")
    for _ in range(QUESTIONS):
        changed.add("1001")
        changed.add("1001")
        assert _round(changed) == ["1001"]
    changed.add("1001")
    clock.now_s += ROUND_S / 2
    changed.add("1001")
    assert (_round(changed), changed.wait_s) == ([], ROUND_S / 2)
    changed.add("1002")
    assert (_round(changed), changed.wait_s) == (["1002"], ROUND_S / 2)
    clock.now_s += ROUND_S / 2
    assert changed.is_due
    changed.enqueue()
    assert changed.take() == [("1001", 100.0)]


def test_names_of_no_endpoint_come_last_and_are_limited() -> None:
    """A phone can make up any number of them."""
    changed = ChangedEndpoints(lambda name: name.startswith("100"), Clock())
    for number in range(2 * MAX_UNKNOWN):
        changed.add(f"x{number}")
    known = [f"100{number}" for number in range(2 * BATCH)]
    for each in known:
        changed.add(each)
    names_of_round = _round(changed)
    assert names_of_round[: len(known)] == known
    assert len(names_of_round) == len(known) + MAX_UNKNOWN
    assert changed.wait_s == float("inf")
    changed.add("y")
    assert _round(changed) == []
