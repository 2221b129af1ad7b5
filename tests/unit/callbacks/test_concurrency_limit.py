"""The limit over all targets: whose turn it is, and what is kept for targets that answer."""

from engine.callbacks.concurrency_limit import ConcurrencyLimit
from engine.callbacks.target_queue import CircuitBreaker, TargetQueue


def target_named(name: str, *, is_proven: bool = False) -> TargetQueue:
    """Return a target that has answered, or not yet; before a space is its account."""
    target = TargetQueue(name, CircuitBreaker(), lambda: 0.0)
    if is_proven:
        target.record_result(is_target_up=True)
    return target


def start_next(limit: ConcurrencyLimit) -> str:
    """Start the delivery that is next; returns its target, or nothing."""
    target = limit.next_target()
    if target is None:
        return ""
    limit.record_start(target.account, is_proven=target.is_proven)
    return target.delivery_key


def test_unproven_targets_leave_half() -> None:
    """However many have not answered, those that answer start at once."""
    limit = ConcurrencyLimit(8)
    for number in range(100):
        limit.add(target_named(f"dead{number}"))
    assert [start_next(limit) for _ in range(5)] == ["dead0", "dead1", "dead2", "dead3", ""]
    for number in range(5):
        limit.add(target_named(f"live{number}", is_proven=True))
    assert [start_next(limit) for _ in range(5)] == ["live0", "live1", "live2", "live3", ""]


def test_an_account_leaves_three_quarters() -> None:
    """However many of its targets answer, slowly, those of others start at once."""
    limit = ConcurrencyLimit(8)
    for number in range(100):
        limit.add(target_named(f"slow {number}", is_proven=True))
    assert [start_next(limit) for _ in range(3)] == ["slow 0", "slow 1", ""]
    limit.add(target_named("other", is_proven=True))
    limit.add(target_named("new"))
    assert [start_next(limit) for _ in range(3)] == ["new", "other", ""]
    limit.record_end("slow", was_proven=True)
    assert [start_next(limit) for _ in range(2)] == ["slow 2", ""]


def test_an_account_without_room_does_not_stop_its_kind() -> None:
    """While proven targets of full accounts wait, unproven ones of others start, and back."""
    limit = ConcurrencyLimit(2)
    for number in range(2):
        limit.add(target_named(f"a {number}"))
    assert [start_next(limit) for _ in range(2)] == ["a 0", ""]
    limit.record_end("a", was_proven=False)
    limit.record_start("a", is_proven=True)
    limit.add(target_named("b"))
    assert start_next(limit) == "b"


def test_an_end_makes_room_for_one() -> None:
    """However many wait."""
    limit = ConcurrencyLimit(4)
    for number in range(8):
        limit.add(target_named(f"a{number} x", is_proven=True))
    assert [start_next(limit) for _ in range(5)] == ["a0 x", "a1 x", "a2 x", "a3 x", ""]
    limit.record_end("a0", was_proven=True)
    assert [start_next(limit) for _ in range(2)] == ["a4 x", ""]


def test_accounts_take_turns() -> None:
    """A target of an account waits for one of each other account, not for all of their targets."""
    limit = ConcurrencyLimit(100)
    for number in range(3):
        limit.add(target_named(f"many {number}", is_proven=True))
    for number in range(2):
        limit.add(target_named(f"few {number}", is_proven=True))
    started = [start_next(limit) for _ in range(6)]
    assert started == ["many 0", "few 0", "many 1", "few 1", "many 2", ""]


def test_an_end_makes_room() -> None:
    """The room is of the kind that the target had at its start."""
    limit = ConcurrencyLimit(2)
    for name in ("dead0", "dead1"):
        limit.add(target_named(name))
    limit.add(target_named("live0", is_proven=True))
    assert [start_next(limit) for _ in range(3)] == ["live0", "dead0", ""]
    limit.record_end("live0", was_proven=True)
    assert start_next(limit) == ""
    limit.record_end("dead0", was_proven=False)
    assert start_next(limit) == "dead1"


def test_kinds_alternate() -> None:
    """Busy targets that answer don't keep new ones waiting."""
    limit = ConcurrencyLimit(100)
    for number in range(3):
        limit.add(target_named(f"new{number}"))
        limit.add(target_named(f"live{number}", is_proven=True))
    started = [start_next(limit) for _ in range(7)]
    assert started == ["live0", "new0", "live1", "new1", "live2", "new2", ""]


def test_a_target_is_in_line_once() -> None:
    """Added again it keeps its place, unless its last attempt changed its kind."""
    limit = ConcurrencyLimit(2)
    first, second = target_named("first"), target_named("second")
    for target in (first, second, first):
        limit.add(target)
    assert start_next(limit) == "first"
    assert start_next(limit) == ""
    second.record_result(is_target_up=True)
    limit.add(second)
    assert start_next(limit) == "second"
    limit.record_end("second", was_proven=True)
    limit.record_end("first", was_proven=False)
    assert start_next(limit) == ""
