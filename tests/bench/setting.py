"""What a bench is told: where it may write, whether to be quick, whether to profile."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from tests.bench.figure import Figure


class Setting(Struct, frozen=True):
    """`folder` is scratch, `out` is what stays; `quick` trades precision for time."""

    folder: Path
    out: Path
    quick: bool = False
    profile: bool = False


Bench = Callable[[Setting], Awaitable[list[Figure]]]
