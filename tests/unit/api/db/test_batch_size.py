"""Batches are as large as their time allows."""

from collections.abc import Iterator
from itertools import chain, repeat

import pytest

from api.db.batch_size import FIRST_ROWS, MOST_ROWS, TARGET_S, BatchSize


def sizes(*seconds: float) -> Iterator[int]:
    """Yield the sizes of the batches after those that took so long."""
    now = 0.0

    def monotonic() -> float:
        return now

    batch = BatchSize(monotonic)
    for took_s in seconds:
        with batch.measured():
            now += took_s
        yield batch.rows


@pytest.mark.parametrize(
    ("took_s", "expected"),
    [(0.0, 2 * FIRST_ROWS), (TARGET_S, FIRST_ROWS), (2 * TARGET_S, FIRST_ROWS // 2), (60.0, 1)],
)
def test_the_next_batch(took_s: float, expected: int) -> None:
    assert [*sizes(took_s)] == [expected]


def test_a_batch_has_a_limit() -> None:
    """Also when all are fast; and a slow one does not stay the last."""
    assert max(sizes(*repeat(0.0, 20))) == MOST_ROWS
    assert [*sizes(*chain([60.0], repeat(0.0, 3)))] == [1, 2, 4, 8]
