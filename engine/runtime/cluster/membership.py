"""The live engines, as their heartbeats describe them, and who holds which slot.

An engine that can't reach nodes that others reach is not eligible for slots. A node that no engine
reaches is dead, and makes no engine ineligible.
"""

from collections.abc import Iterable, Mapping

import msgspec
import structlog
from msgspec import Struct

from engine.calls.model.storage_format import FORMAT
from engine.store.compressed_call import DICTIONARY

log = structlog.get_logger()


class Peer(Struct, frozen=True):
    """An engine's heartbeat: the URL of its RPC, its slots, its calls by node.

    `reachable` and `unreachable` name nodes (see `PbxReachability`); of others it does
    not know yet. A slot with calls of a later version goes to an engine that can read them.
    """

    url: str
    slots: tuple[int, ...] = ()
    calls: dict[str, int] = {}
    reachable: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    format: int = 0  # of stored calls: the latest that it can read
    unreadable: tuple[int, ...] = ()  # slots with calls that it cannot read
    accounts: dict[str, tuple[int, int]] = {}  # live dialled legs, and milliseconds they are up
    dictionary: int = 0  # of compressed calls: the newest that it has; 0: it can read none


class Membership:
    """All live engines, including this one, `me`."""

    def __init__(self, me: str, stored_format: int = FORMAT) -> None:
        self.me = me
        self.format = stored_format
        self._engines: dict[str, Peer] = {me: Peer("")}
        self._eligible = [me]

    def update(self, alive: Mapping[str, str]) -> bool:
        """Take the heartbeats of all live engines; returns whether an earlier one is missing."""
        before = self._engines
        self._engines = {
            name: peer for name, body in alive.items() if (peer := _decode(name, body))
        }
        self._eligible = eligible_engines({self.me: Peer(""), **self._engines})
        return not before.keys() <= self._engines.keys()

    @property
    def peers(self) -> list[Peer]:
        """The other engines."""
        return [peer for name, peer in self._engines.items() if name != self.me]

    def url_of(self, slot: int | None) -> str | None:
        """Return the URL of the other engine that has a slot (None: any slot), if there is one."""
        holders = (p.url for p in self.peers if (p.slots if slot is None else slot in p.slots))
        return next(holders, None)

    def holder(self, slot: int) -> str:
        """Return the name of the other engine that claims to have a slot, or an empty string."""
        others = ((name, peer) for name, peer in self._engines.items() if name != self.me)
        return next((name for name, peer in others if slot in peer.slots), "")

    @property
    def engine_count(self) -> int:
        """How many engines are eligible for slots."""
        return len(self._eligible)

    @property
    def unreachable_nodes(self) -> frozenset[str]:
        """The nodes that make this engine ineligible: others reach them, it does not."""
        if self.me in self._eligible:
            return frozenset()
        reached = _reachable(self._engines.values())
        return reached.intersection(self._engines[self.me].unreachable)

    def can_read(self, stored_format: int) -> bool:
        """Return whether another engine that is eligible for slots can read a format."""
        return any(self._engines[name].format >= stored_format for name in self._eligible_peers)

    @property
    def unreadable_slots(self) -> frozenset[int]:
        """The slots with calls that another engine cannot read, though this engine may."""
        return frozenset(
            slot for peer in self.peers if peer.format < self.format for slot in peer.unreadable
        )

    @property
    def has_later_peers(self) -> bool:
        """Whether an engine of a later version lives, which gives this one no slots."""
        return any(peer.format > self.format for peer in self.peers)

    @property
    def dictionary(self) -> int:
        """The newest dictionary of compressed calls that every live engine has; 0: none."""
        return min((peer.dictionary for peer in self.peers), default=DICTIONARY)

    @property
    def _eligible_peers(self) -> list[str]:
        return [name for name in self._eligible if name != self.me and name in self._engines]

    def has_taker(self, slots: int) -> bool:
        """Return whether an eligible engine that reads this engine's calls has room for a slot."""
        highest = self.fair_range(slots)[1]
        peers = (self._engines[name] for name in self._eligible_peers)
        return any(peer.format >= self.format and len(peer.slots) < highest for peer in peers)

    def calls(self, node: str) -> int:
        """Count the calls that other engines have on a node, or, as TRUNK, on the trunk."""
        return sum(peer.calls.get(node, 0) for peer in self.peers)

    def account_load(self, account: str) -> tuple[int, int]:
        """Return how many legs other engines have dialled for an account, and for how long."""
        loads = [peer.accounts.get(account, (0, 0)) for peer in self.peers]
        return sum(legs for legs, _ in loads), sum(used_ms for _, used_ms in loads)

    def fair_share(self, slots: int) -> int:
        """Return how many slots this engine should have: shares differ by one at most."""
        if self.me not in self._eligible:
            return 0
        each, left = divmod(slots, len(self._eligible))
        return each + (self._eligible.index(self.me) < left)

    def fair_range(self, slots: int) -> tuple[int, int]:
        """Return the lowest and highest number of slots that is fair to the others."""
        if self.me not in self._eligible:
            return 0, 0
        each, left = divmod(slots, len(self._eligible))
        return each, each + (left > 0)

    def has_underloaded(self, slots: int) -> bool:
        """Return whether an eligible engine has less than the lowest share."""
        lowest = slots // len(self._eligible)
        return any(
            len(self._engines[name].slots) < lowest
            for name in self._eligible
            if name in self._engines
        )


def _reachable(peers: Iterable[Peer]) -> frozenset[str]:
    return frozenset(node for peer in peers for node in peer.reachable)


def eligible_engines(peers: Mapping[str, Peer]) -> list[str]:
    """Return the names of the engines that lack the fewest of the reachable nodes.

    So at least one is eligible, whatever each of them lacks.
    """
    nodes = _reachable(peers.values())
    lacking = {name: len(nodes.intersection(peer.unreachable)) for name, peer in peers.items()}
    fewest = min(lacking.values())
    return sorted(name for name, count in lacking.items() if count == fewest)


def _decode(name: str, body: str) -> Peer | None:
    try:
        return msgspec.json.decode(body, type=Peer)
    except msgspec.DecodeError:
        log.warning("invalid heartbeat from engine", engine=name)
        return None
