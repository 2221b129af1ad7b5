"""The engines that live, as each says of itself in its beat, and whose the slots are."""

from collections.abc import Mapping

import msgspec
import structlog
from msgspec import Struct

log = structlog.get_logger()


class Peer(Struct, frozen=True):
    """What an engine says of itself: where its RPC is, which slots it holds, its calls by node."""

    url: str
    slots: tuple[int, ...] = ()
    calls: dict[str, int] = {}


class Peers:
    """All engines that live, this one among them."""

    def __init__(self, me: str) -> None:
        self.me = me
        self._known: dict[str, Peer] = {me: Peer("")}

    def told(self, alive: Mapping[str, str]) -> bool:
        """Take what a beat brought; tells whether one that lived is missing."""
        before = self._known
        self._known = {name: peer for name, body in alive.items() if (peer := _read(name, body))}
        return not before.keys() <= self._known.keys()

    @property
    def others(self) -> list[Peer]:
        """List the other engines."""
        return [peer for name, peer in self._known.items() if name != self.me]

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the other engine is that has a slot, or, for None, any slot."""
        holders = (p.url for p in self.others if (p.slots if slot is None else slot in p.slots))
        return next(holders, None)

    @property
    def engines(self) -> int:
        """How many engines live, this one among them."""
        return len({*self._known, self.me})

    def calls(self, node: str) -> int:
        """Count the calls that the others have on a node, or, as TRUNK, on the trunk."""
        return sum(peer.calls.get(node, 0) for peer in self.others)

    def share(self, slots: int) -> int:
        """Tell how many of the slots are this engine's: all shares are equal, but for one."""
        names = sorted({*self._known, self.me})
        each, left = divmod(slots, len(names))
        return each + (names.index(self.me) < left)


def _read(name: str, body: str) -> Peer | None:
    try:
        return msgspec.json.decode(body, type=Peer)
    except msgspec.DecodeError:
        log.warning("an engine that can't be understood", engine=name)
        return None
