"""What comes of a seed, with one engine or several; and what tests ask of that."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from tests.sim.call_log import Story
from tests.sim.faults import Faults
from tests.sim.quiet import quiet
from tests.sim.world import Trace


class World(Protocol):
    """A world that something struck."""

    @property
    def faults(self) -> Faults:
        """What did."""


class Outcome(Protocol):
    """What came of a seed."""

    @property
    def world(self) -> World:
        """The world."""

    @property
    def told(self) -> tuple[Story, ...]:
        """Its stories."""

    @property
    def wrong(self) -> tuple[tuple[str, str], ...]:
        """What was wrong."""


class Run(Protocol):
    """How a seed is run."""

    def __call__(self, seed: int, never: list[str], *, trace: Trace) -> Outcome:
        """Run it."""


def traced(seed: int, run: Run) -> list[str]:
    """Give all that passed and all that was told, to the millisecond."""
    lines: list[str] = []
    with quiet() as never:
        outcome = run(seed, never, trace=lambda at_ms, words: lines.append(f"{at_ms} {words}"))
    assert len(lines) > 100
    return [*lines, *(repr(story) for story in outcome.told)]


def wrong_in(seeds: Iterable[int], run: Callable[[int, list[str]], Outcome]) -> Iterator[str]:
    """Give what was wrong, seed after seed."""
    with quiet() as never:
        for seed in seeds:
            yield from (words for _, words in run(seed, never).wrong)
