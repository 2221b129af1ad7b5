"""The continuation: what runs after the current verb."""

from msgspec import Struct

from engine.calls.model.call_states import Streaming
from wire.verbs import Action, Verb


class Frame(Struct, frozen=True, tag="frame"):
    """A running flow's entry in the continuation; `exits` are those of its current node.

    `fallback` runs in place of the rest of a flow that fails.
    """

    flow_id: str
    version: int
    node: str = ""
    exits: tuple[tuple[str, str], ...] = ()  # (exit name, next node)
    fallback: Verb | None = None

    def exit(self, name: str) -> str | None:
        """Return the node that an exit leads to."""
        return dict(self.exits).get(name)


class SuspendedStream(Struct, frozen=True, tag="suspended-stream"):
    """A stream's entry in the continuation, while an action of its bot or a conversation runs."""

    state: Streaming


Continuation = tuple[Action | Frame | SuspendedStream, ...]  # a stack: the next one comes first
