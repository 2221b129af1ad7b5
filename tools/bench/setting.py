"""Options of a bench."""

from collections.abc import Awaitable, Callable
from pathlib import Path

from msgspec import Struct

from tools.bench.figure import Figure


class Setting(Struct, frozen=True):
    """`folder` is temporary, `out` is kept; `quick` trades precision for time."""

    folder: Path
    out: Path
    quick: bool = False
    profile: bool = False


Bench = Callable[[Setting], Awaitable[list[Figure]]]
