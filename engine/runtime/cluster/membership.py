"""The engines that live, as each says of itself in its beat, and whose the slots are.

Who alone can't reach a node stands back: it has no share while others reach what it does not. If
nobody hears a node, it is the node that is dead, and nobody stands back.
"""

from collections.abc import Iterable, Mapping

import msgspec
import structlog
from msgspec import Struct

log = structlog.get_logger()


class Peer(Struct, frozen=True):
    """What an engine says of itself: where its RPC is, which slots it holds, its calls by node.

    `hears` and `deaf` name nodes, as `reach.Reach` tells them; of others it does not know.
    """

    url: str
    slots: tuple[int, ...] = ()
    calls: dict[str, int] = {}
    hears: tuple[str, ...] = ()
    deaf: tuple[str, ...] = ()


class Peers:
    """All engines that live, this one among them."""

    def __init__(self, me: str) -> None:
        self.me = me
        self._known: dict[str, Peer] = {me: Peer("")}
        self._sharing = [me]

    def told(self, alive: Mapping[str, str]) -> bool:
        """Take what a beat brought; tells whether one that lived is missing."""
        before = self._known
        self._known = {name: peer for name, body in alive.items() if (peer := _read(name, body))}
        self._sharing = sharing({self.me: Peer(""), **self._known})
        return not before.keys() <= self._known.keys()

    @property
    def others(self) -> list[Peer]:
        """List the other engines."""
        return [peer for name, peer in self._known.items() if name != self.me]

    def url_of(self, slot: int | None) -> str | None:
        """Tell where the other engine is that has a slot, or, for None, any slot."""
        holders = (p.url for p in self.others if (p.slots if slot is None else slot in p.slots))
        return next(holders, None)

    def holder(self, slot: int) -> str:
        """Name the other engine that says it has a slot; empty when none does."""
        others = ((name, peer) for name, peer in self._known.items() if name != self.me)
        return next((name for name, peer in others if slot in peer.slots), "")

    @property
    def engines(self) -> int:
        """How many engines live and have a share, or would have one with slots enough."""
        return len(self._sharing)

    @property
    def missed(self) -> frozenset[str]:
        """Name the nodes for which this engine stands back: others reach them, it does not."""
        if self.me in self._sharing:
            return frozenset()
        return _heard(self._known.values()).intersection(self._known[self.me].deaf)

    def calls(self, node: str) -> int:
        """Count the calls that the others have on a node, or, as TRUNK, on the trunk."""
        return sum(peer.calls.get(node, 0) for peer in self.others)

    def share(self, slots: int) -> int:
        """Tell how many of the slots are this engine's: all shares are equal, but for one."""
        if self.me not in self._sharing:
            return 0
        each, left = divmod(slots, len(self._sharing))
        return each + (self._sharing.index(self.me) < left)

    def fair(self, slots: int) -> tuple[int, int]:
        """Tell the least and the most that this engine may hold without harm to another."""
        if self.me not in self._sharing:
            return 0, 0
        each, left = divmod(slots, len(self._sharing))
        return each, each + (left > 0)

    def lack(self, slots: int) -> bool:
        """Tell whether one of those that share has less than the least of the shares."""
        least = slots // len(self._sharing)
        return any(
            len(self._known[name].slots) < least for name in self._sharing if name in self._known
        )


def _heard(peers: Iterable[Peer]) -> frozenset[str]:
    return frozenset(node for peer in peers for node in peer.hears)


def sharing(peers: Mapping[str, Peer]) -> list[str]:
    """Name the engines that share the slots: those that miss the fewest of the nodes heard.

    So one is always left, whatever each of them misses.
    """
    nodes = _heard(peers.values())
    missed = {name: len(nodes.intersection(peer.deaf)) for name, peer in peers.items()}
    fewest = min(missed.values())
    return sorted(name for name, count in missed.items() if count == fewest)


def _read(name: str, body: str) -> Peer | None:
    try:
        return msgspec.json.decode(body, type=Peer)
    except msgspec.DecodeError:
        log.warning("an engine that can't be understood", engine=name)
        return None
