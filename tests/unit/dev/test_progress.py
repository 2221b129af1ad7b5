"""The steps of a start, as they are shown."""

import asyncio
import io

import pytest
from rich.console import Console

from dev.progress import Progress


def console(*, is_terminal: bool = False) -> Console:
    return Console(file=io.StringIO(), force_terminal=is_terminal, width=100)


def shown(target: Console) -> str:
    assert isinstance(target.file, io.StringIO)
    return target.file.getvalue()


def test_a_step_is_one_line_where_there_is_no_terminal() -> None:
    """With its name, its seconds, and what it has done."""
    target, times = console(), iter([0.0, 1.0, 3.5])
    with Progress(target, lambda: next(times)).step("Valkey") as step:
        step.note("port 6390")
    assert shown(target).split() == ["✔", "Valkey", "2.5", "s", "port", "6390"]


def test_a_failed_step_is_not_marked_as_done() -> None:
    """Its error follows."""
    target = console()
    with pytest.raises(RuntimeError), Progress(target).step("Valkey"):
        raise RuntimeError
    assert shown(target) == ""


@pytest.mark.parametrize("interruption", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupted_step_says_so(interruption: type[BaseException]) -> None:
    """No error follows, and a terminal no longer shows the step."""
    target = console()
    with pytest.raises(interruption), Progress(target).step("Valkey"):
        raise interruption
    assert shown(target).startswith("✘ Valkey")
    assert "the next start begins it again" in shown(target)


def test_a_terminal_shows_steps_that_run_at_the_same_time() -> None:
    """Both count their seconds; each is a line when it ends."""
    target = console(is_terminal=True)
    progress = Progress(target)
    with progress.step("Asterisk") as outer, progress.step("Python packages") as inner:
        outer.note("debootstrap")
        inner.note("installing")
    text = shown(target)
    assert text.index("✔ Python packages") < text.index("✔ Asterisk")
