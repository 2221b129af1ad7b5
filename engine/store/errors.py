"""How the store says no."""


class StoreDown(Exception):
    """The store cannot be reached or cannot write; the same request may be made again."""


class Fenced(Exception):
    """The slot has a newer owner: whoever is told so must stop commanding at once."""

    def __init__(self, slot: int, owner: str) -> None:
        super().__init__(f"slot {slot} belongs to {owner or 'nobody'}")
        self.slot = slot
        self.owner = owner


class CommitsLost(Exception):
    """The slot is ours, and the store has lost changes of it: it failed over, or died."""


class Overflow(Exception):
    """More changes wait to be committed than the limit allows."""
