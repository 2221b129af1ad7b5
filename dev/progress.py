"""Steps of a start: name, seconds, and what each has downloaded and stored.

In a terminal each running step counts its seconds; elsewhere a step is one line when it ends.
"""

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import Lock

from rich.console import Console, Group
from rich.live import Live
from rich.spinner import Spinner
from rich.text import Text

_WIDTH = 22
_REFRESHES_PER_S = 4


class Step:
    """One step; `note` says what it found or did."""

    def __init__(self, name: str, clock_s: Callable[[], float]) -> None:
        self.name = name
        self._clock_s = clock_s
        self._started_s = clock_s()
        self._note = ""
        self._spinner = Spinner("dots")

    def note(self, text: str) -> None:
        self._note = text

    def line(self) -> str:
        seconds = f"{self._clock_s() - self._started_s:.1f} s"
        return f"{self.name:<{_WIDTH}}{seconds:>8}  {self._note}".rstrip()

    def __rich__(self) -> Spinner:
        self._spinner.update(text=Text(self.line()))
        return self._spinner


class Progress:
    """Prints the steps of one start, of which several may run, also in threads."""

    def __init__(self, console: Console, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._console = console
        self._clock_s = clock_s
        self._started_s = clock_s()
        self._lock = Lock()
        self._steps: list[Step] = []
        self._live: Live | None = None

    @contextmanager
    def step(self, name: str) -> Iterator[Step]:
        """Show a step while it runs; one that fails has no line, because an error follows."""
        step = Step(name, self._clock_s)
        with self._lock:
            self._steps.append(step)
            self._show()
        try:
            yield step
            self.say(f"✔ {step.line()}")
        except (KeyboardInterrupt, asyncio.CancelledError):
            self.say(f"✘ {step.line()}  interrupted; the next start begins it again")
            raise
        finally:
            with self._lock:
                self._steps.remove(step)
                self._show()

    def say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True, markup=False, highlight=False)

    @property
    def elapsed_s(self) -> float:
        """Return the seconds since the first step began."""
        return self._clock_s() - self._started_s

    def _show(self) -> None:
        """Begin to show running steps with the first one, and end with the last one."""
        if self._steps and self._live is None and self._console.is_terminal:
            self._live = Live(
                console=self._console,
                get_renderable=lambda: Group(*self._steps),
                refresh_per_second=_REFRESHES_PER_S,
                transient=True,
            )
            self._live.start()
        elif not self._steps and self._live is not None:
            self._live.stop()
            self._live = None
