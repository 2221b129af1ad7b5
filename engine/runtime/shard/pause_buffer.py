"""A desk's standstill: its node can't be heard, so calls' time stands and what comes is kept."""

import asyncio
from collections.abc import Iterable

from engine.calls.model.events import DigitPressed, Event
from engine.runtime.shard.actor import Actor


class PauseBuffer:
    """Whether a desk stands, and what came meanwhile; a new one stands until the node is heard."""

    def __init__(self) -> None:
        self.over = asyncio.Event()  # unset while it lasts
        self.kept: list[tuple[Actor, Event]] = []
        self._gap = 0  # so many of them came before events were missed

    def begin(self) -> None:
        """Stand: nothing may be concluded."""
        self.over.clear()

    def miss(self) -> None:
        """Stand, and know that events are missed between what waits by now and what comes."""
        self.begin()
        self._gap = len(self.kept)

    def keep(self, actor: Actor, event: Event) -> None:
        """Stand, and keep an event for later."""
        self.begin()
        self.kept.append((actor, event))

    def end(self) -> list[tuple[Actor, Event]]:
        """Go on; gives what came meanwhile."""
        self.over.set()
        kept, self.kept, self._gap = self.kept, [], 0
        return kept

    def fill(self, actor: Actor, events: Iterable[Event]) -> None:
        """Take events in where they were missed, behind what came before."""
        told = [(actor, event) for event in events]
        self.kept[self._gap : self._gap] = told
        self._gap += len(told)

    def last_keys(self) -> dict[str, DigitPressed]:
        """Give the last key of each leg among what waits, and after which some may be missed."""
        keys = (event for _, event in self.kept[: self._gap] if isinstance(event, DigitPressed))
        return {key.leg: key for key in keys}

    def first_keys(self) -> dict[str, DigitPressed]:
        """Give the first key of each leg among what waits, and after which none was missed."""
        whole = self.kept[self._gap :]
        keys = (event for _, event in reversed(whole) if isinstance(event, DigitPressed))
        return {key.leg: key for key in keys}
