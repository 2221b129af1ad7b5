"""Ports of concurrent test processes."""

import os
from pathlib import Path

from tests.harness.ports import lock_folder, reserve_block


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


def test_each_user_has_a_folder(tmp_path: Path) -> None:
    """Lock files of root do not stop the tests of another user."""
    assert lock_folder(tmp_path).name.endswith(f"-{os.getuid()}")
