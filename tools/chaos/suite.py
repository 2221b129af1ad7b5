"""Runs the faults of a suite one after another; logs of each stay in a folder of its own."""

import asyncio
import shutil
from collections.abc import Callable, Coroutine, Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

from rich.console import Console

from tools.bench.figure import Figure, keep

OUT = Path(__file__).parents[2] / "bench-out"
WIDTH = 150
Result = TypeVar("Result")


def wide_console() -> Console:
    """Return a console that is wide enough for the tables."""
    console = Console()
    console.width = max(console.width, WIDTH)
    return console


def run_faults(
    faults: Mapping[str, str | None],
    run: Callable[[str, Path], Coroutine[Any, Any, Result]],
    figures: Callable[[Result], Iterable[Figure]],
    folder: Path,
    console: Console,
) -> tuple[list[Result], bool]:
    """Run faults, given by name and text, and keep their figures; return whether all could run."""
    found: list[Result] = []
    is_complete = True
    for name, text in faults.items():
        console.print(f"[bold]{name}[/bold]: {text}")
        shutil.rmtree(folder / name, ignore_errors=True)
        try:
            outcome = asyncio.run(run(name, folder / name))
        except Exception as error:  # noqa: BLE001 - the other faults can still run
            console.print(f"  [red]not measured: {type(error).__name__}: {error}[/red]")
            is_complete = False
            continue
        keep(figures(outcome), OUT / "chaos.json")
        found.append(outcome)
    return found, is_complete
