"""A flow that runs: which version, the node that it is at, and where that leads."""

from msgspec import Struct


class Frame(Struct, frozen=True, tag="frame"):
    """One of what comes after, on top while the flow runs; `exits` lead from the node."""

    flow_id: str
    version: int
    node: str = ""
    exits: tuple[tuple[str, str], ...] = ()  # by the field that names the next node

    def exit(self, name: str) -> str | None:
        """Name the node that an exit leads to."""
        return dict(self.exits).get(name)
