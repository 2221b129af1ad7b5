"""The layout of shards in this process's memory."""

from collections.abc import Collection

from engine.store.shard_layout import ShardLayout


class MemoryShardLayout:
    """Slots per node, known nodes, and the calls of requests."""

    def __init__(self) -> None:
        self._slots = self._highest = 0
        self._nodes: set[str] = set()
        self._calls_of_requests: dict[str, str] = {}

    async def shard_layout(self) -> ShardLayout:
        return ShardLayout(self._slots, self._highest, tuple(sorted(self._nodes)))

    async def add_nodes(self, nodes: Collection[str], slots: int, highest: int = 0) -> int:
        self._nodes.update(nodes)
        self._slots = self._slots or slots
        self._highest = max(self._highest, self._slots, highest)
        return self._slots

    async def set_slots(self, slots: int) -> None:
        self._slots = slots
        self._highest = max(self._highest, slots)

    async def request_of(self, request_id: str) -> str | None:
        return self._calls_of_requests.get(request_id)

    async def reserve_request(self, request_id: str, call_id: str, instead_of: str = "") -> str:
        if self._calls_of_requests.get(request_id, instead_of) == instead_of:
            self._calls_of_requests[request_id] = call_id
        return self._calls_of_requests[request_id]
