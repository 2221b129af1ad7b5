"""The live engines, as their heartbeats describe them, and who holds which shard."""

from collections import Counter
from collections.abc import Iterable, Mapping

import msgspec
import structlog
from msgspec import Struct

from engine.calls.model.storage_format import FORMAT
from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.cluster.share_plan import EngineState
from engine.store.compressed_call import DICTIONARY
from wire.decoding.messages import decode_message
from wire.shard import ShardId, parse_shard

log = structlog.get_logger()
HEARD_FULL_S = 60  # as long as engines remember digits


class Peer(Struct, frozen=True):
    """An engine's heartbeat: the URL of its RPC, its shards with their calls, its calls by node.

    `reachable` and `unreachable` name nodes (see `PbxReachability`); `unproven` are its others. A
    shard with calls of a later version goes to an engine that can read them.
    """

    url: str
    shards: dict[str, int] = {}
    calls: dict[str, int] = {}
    reachable: tuple[str, ...] = ()
    unreachable: tuple[str, ...] = ()
    unproven: tuple[str, ...] = ()
    capacity: int = 0  # of live calls
    format: int = 0  # of stored calls: the latest that it can read
    unreadable: tuple[str, ...] = ()  # shards with calls that it cannot read
    accounts: dict[str, AccountUse] = {}
    dictionary: int = 0  # of compressed calls: the newest that it has; 0: it can read none
    reports: dict[str, NodeReport] = {}  # of the nodes whose manager interface it watches
    heard_s: dict[str, int] = {}  # nodes whose digits it hears, and for how long (up to a minute)
    phones: int = 0  # revision of what it knows of the phones at the nodes that it supervises
    offers: dict[str, str] = {}  # shards that it has just released, and for which engines


class Membership:
    """All live engines, including this one, `me`."""

    def __init__(self, me: str, stored_format: int = FORMAT) -> None:
        self.me = me
        self.format = stored_format
        self._engines: dict[str, Peer] = {}
        self._owners: dict[ShardId, str] = {}  # the other engines' shards
        self._reports: dict[str, NodeReport] = {}  # by node, as the other engines have them
        self._passed_on: Counter[str] = Counter()  # calls by node, since the last heartbeats
        self._missing: dict[str, tuple[float, Peer]] = {}  # since when they have no heartbeat

    def update(self, alive: Mapping[str, str], now_s: float = 0.0) -> bool:
        """Take the heartbeats of all live engines; returns whether an earlier one is missing.

        `now_s` is the monotonic time.
        """
        before = self._engines
        self._engines = {
            name: peer for name, body in alive.items() if (peer := _decode(name, body))
        }
        self._owners = {
            parse_shard(shard): name
            for name, peer in self._engines.items()
            if name != self.me
            for shard in peer.shards
        }
        missing = {name: (now_s, peer) for name, peer in before.items()} | self._missing
        self._missing = {
            name: (since_s, peer)
            for name, (since_s, peer) in missing.items()
            if name not in self._engines and now_s - since_s < HEARD_FULL_S
        }
        self._passed_on.clear()  # the heartbeats count these calls
        reports = [each for peer in self.peers for each in peer.reports.items()]
        reports.sort(key=lambda each: each[1].is_watched)  # such a report is the newest
        self._reports = dict(reports)
        return not before.keys() <= self._engines.keys()

    @property
    def peers(self) -> list[Peer]:
        """The other engines."""
        return [*self.others.values()]

    @property
    def others(self) -> dict[str, Peer]:
        """The other engines by name."""
        return {name: peer for name, peer in self._engines.items() if name != self.me}

    def url_of(self, shard: ShardId | None) -> str | None:
        """Return the URL of the other engine that has a shard (None: any), if there is one."""
        if shard is None:
            return next((peer.url for peer in self.peers if peer.shards), None)
        owner = self._owners.get(shard)
        return None if owner is None else self._engines[owner].url

    def owner_at(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        """Return a shard of other engines that gets new calls, at one of some nodes."""
        wanted = frozenset(nodes)
        found = (each for each in self._owners if each.node in wanted and each.slot < slots)
        return min(found, default=None)

    def owner_with_room(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        """Return a shard at one of some nodes, of the other engine with the most room for calls."""
        wanted, found = frozenset(nodes), list[tuple[int, int, ShardId]]()
        for shard, name in self._owners.items():
            peer = self._engines[name]
            room = peer.capacity - sum(peer.shards.values())
            if room > 0 and shard.node in wanted and shard.slot < slots:
                found.append((-room, peer.shards[str(shard)], shard))
        return min(found)[-1] if found else None

    def pass_on(self, node: str, slots: int) -> ShardId | None:
        """Return a shard of other engines at a node, each in turn, and count a call there."""
        found = sorted(each for each in self._owners if each.node == node and each.slot < slots)
        if not found:
            return None
        self._passed_on[node] += 1
        return found[self._passed_on[node] % len(found)]

    def passed_on(self, node: str) -> int:
        """Count the calls passed on to a node since the last heartbeats."""
        return self._passed_on[node]

    def holder(self, shard: ShardId) -> str:
        """Return the name of the other engine that claims to have a shard, or an empty string."""
        return self._owners.get(shard, "")

    @property
    def held(self) -> Mapping[ShardId, str]:
        """The shards of the other engines, with these."""
        return self._owners

    @property
    def nodes(self) -> frozenset[str]:
        """The nodes that some live engine has in its settings."""
        return frozenset(node for peer in self._engines.values() for node in _nodes(peer))

    @property
    def engine_count(self) -> int:
        """How many engines have shards, including this one."""
        return 1 + len(set(self._owners.values()))

    def rate_share(self, node: str) -> float:
        """Return this engine's part of a node's new calls: that of its shards among the node's."""
        of_others = sum(shard.node == node for shard in self._owners)
        me = self._engines.get(self.me)
        own = sum(parse_shard(shard).node == node for shard in me.shards) if me else 0
        return own / (own + of_others) if own else 1 / self.engine_count

    def can_read(self, stored_format: int) -> bool:
        """Return whether another engine can read a format."""
        return any(peer.format >= stored_format for peer in self.peers)

    @property
    def dictionary(self) -> int:
        """The newest dictionary of compressed calls that every live engine has; 0: none."""
        return min((peer.dictionary for peer in self.peers), default=DICTIONARY)

    @property
    def unreadable(self) -> dict[ShardId, int]:
        """Shards with calls that an engine cannot read, with the latest format that it can."""
        found: dict[ShardId, int] = {}
        for peer in self._engines.values():
            for shard in map(parse_shard, peer.unreadable):
                found[shard] = max(found.get(shard, 0), peer.format)
        return found

    @property
    def offers(self) -> dict[ShardId, str]:
        """Shards that engines have just released, and the engines that they did so for."""
        found = (each for _, peer in sorted(self._engines.items()) for each in peer.offers.items())
        return {parse_shard(shard): to for shard, to in found}

    def states(self) -> dict[str, EngineState]:
        """Return the engines as the plan of shares takes them."""
        reached = frozenset(node for peer in self._engines.values() for node in peer.reachable)
        return {
            name: EngineState(
                peer.capacity,
                {parse_shard(shard): calls for shard, calls in peer.shards.items()},
                frozenset(_nodes(peer)),
                reached.intersection(peer.unreachable),
                peer.format,
            )
            for name, peer in self._engines.items()
        }

    def node_report(self, node: str) -> NodeReport | None:
        """Return what another engine reports of a node's health."""
        return self._reports.get(node)

    def hearers(self, node: str) -> list[str]:
        """Return the URLs of the other engines that hear a node's digits, the longest first.

        If none has heard them for a minute, engines without a heartbeat follow: one that lost the
        store, but not the node, has heard what was pressed since.
        """
        live = _heard(node, self.peers)
        if live and live[0][0] <= -HEARD_FULL_S:
            return [url for _, url in live]
        missing = _heard(node, (peer for _, peer in self._missing.values()))
        return [url for _, url in (*live, *missing)]

    @property
    def phone_revisions(self) -> dict[str, int]:
        """The revisions of what other engines know of phones, by the URLs of those that do."""
        return {peer.url: peer.phones for peer in self.peers if peer.phones}

    def calls(self, node: str) -> int:
        """Count the calls that other engines have on a node, or, as TRUNK, on the trunk."""
        return sum(peer.calls.get(node, 0) for peer in self.peers)

    def account_use(self, account: str) -> AccountUse:
        """Return what an account's calls in the other engines use."""
        uses = [use for peer in self.peers if (use := peer.accounts.get(account))]
        return AccountUse(*map(sum, zip(*uses, strict=True)))


def _heard(node: str, peers: Iterable[Peer]) -> list[tuple[int, str]]:
    return sorted((-peer.heard_s[node], peer.url) for peer in peers if node in peer.heard_s)


def _nodes(peer: Peer) -> tuple[str, ...]:
    return (*peer.reachable, *peer.unreachable, *peer.unproven)


def _decode(name: str, body: str) -> Peer | None:
    try:
        return decode_message(body, Peer)
    except msgspec.DecodeError:
        log.warning("invalid heartbeat from engine", engine=name)
        return None
