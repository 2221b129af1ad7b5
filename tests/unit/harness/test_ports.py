"""Ports of concurrent test processes."""

from pathlib import Path

from tests.harness.ports import free_ports, media_port, reserve_block


def test_no_two_processes_have_the_same_block(tmp_path: Path) -> None:
    """A block is reserved until its process ends, which closes the lock."""
    first, lock = reserve_block(tmp_path)
    second, other = reserve_block(tmp_path)
    assert first != second
    lock.close()
    third, again = reserve_block(tmp_path)
    assert third == first
    for each in (other, again):
        each.close()


def test_ports_are_handed_out_in_turn() -> None:
    """No port comes twice in a row of requests, also if it was not bound meanwhile."""
    assert len(set(free_ports(50))) == 50
    assert len({media_port() for _ in range(20)}) == 20
