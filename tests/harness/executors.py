"""Executors without threads."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class InlineExecutor(Executor):
    """Runs everything at once."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        done.set_result(fn(*args, **kwargs))
        return done


class HeldExecutor(Executor):
    """Runs what it has when a test says so."""

    def __init__(self) -> None:
        self._held: list[Callable[[], None]] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(fn(*args, **kwargs))
            except Exception as error:  # noqa: BLE001 - as executors do
                done.set_exception(error)

        self._held.append(run)
        return done

    def run_all(self) -> int:
        """Run what was submitted; return how much that was."""
        held, self._held = self._held, []
        for each in held:
            each()
        return len(held)
