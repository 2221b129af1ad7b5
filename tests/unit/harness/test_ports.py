"""Ports of concurrent test processes."""

from pathlib import Path

from tests.harness.ports import reserve_block


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
