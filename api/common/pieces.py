"""Converts the rows of a large page in pieces, between which other requests have their turn."""

import asyncio
from collections.abc import Callable, Sequence
from typing import TypeVar

PIECE = 50  # rows, of up to 100 µs each
T = TypeVar("T")
V = TypeVar("V")


async def in_pieces(convert: Callable[[T], V], values: Sequence[T]) -> list[V]:
    """Convert each value, in order."""
    found: list[V] = []
    for begin in range(0, len(values), PIECE):
        if begin:
            await asyncio.sleep(0)
        found += map(convert, values[begin : begin + PIECE])
    return found
