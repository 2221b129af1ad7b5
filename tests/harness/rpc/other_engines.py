"""The other engines of a scene: none, or those whose load a test sets."""

from collections.abc import Iterable, Sequence

from engine.runtime.base.node_report import AccountUse, NodeReport
from engine.runtime.policy.capacity_limits import SingleEngine as NoOtherEngine
from wire.shard import ShardId


class SingleEngine:
    """A cluster without other engines."""

    is_settled = True
    is_leaving = False
    peer_urls: Sequence[str] = ()

    def wake(self) -> None:
        """Do nothing."""

    def url_of(self, _shard: ShardId | None) -> str | None:
        """Return None: no other engine owns a shard."""
        return None


SINGLE_ENGINE = SingleEngine()


class OtherEngines(NoOtherEngine):
    """The load of other engines, as the test sets it."""

    def __init__(self) -> None:
        self.reports: dict[str, NodeReport] = {}
        self.account = AccountUse()
        self.shards: dict[ShardId, str] = {}
        self.light_nodes: dict[str, ShardId] = {}  # the shards that get calls passed on to them

    def owner_at(self, nodes: Iterable[str], _slots: int) -> ShardId | None:
        names = frozenset(nodes)
        return next((shard for shard in self.shards if shard.node in names), None)

    def owner_with_room(self, nodes: Iterable[str], slots: int) -> ShardId | None:
        return self.owner_at(nodes, slots)

    def pass_on(self, node: str, _slots: int) -> ShardId | None:
        return self.light_nodes.get(node)

    def node_report(self, node: str) -> NodeReport | None:
        return self.reports.get(node)

    def account_use(self, _account: str) -> AccountUse:
        return self.account
