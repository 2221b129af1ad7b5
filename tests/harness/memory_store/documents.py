"""Documents in this process's memory: the twin of those in Redis."""

from collections.abc import Callable, Sequence

from engine.store.store import MAX_CHANGES
from tests.harness.memory_store.phones import MemoryPhones
from tests.harness.memory_store.versioned_documents import MemoryVersionedDocuments
from wire.decoding.messages import decode_message
from wire.dial_policy import DncListChange
from wire.documents.versioned import FlowState


class MemoryDocuments:
    """Flows, API requests, number routes, agents; drained nodes."""

    def __init__(self, now_ms: Callable[[], int]) -> None:
        self.documents = MemoryVersionedDocuments(now_ms)
        self.phones = MemoryPhones(self.documents, now_ms)
        self._drained: frozenset[str] = frozenset()

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        number = version or (await self.flows(account)).get(flow_id, 0)
        body = self.documents.flow_bodies(account, flow_id).get(number)
        return None if body is None else (number, body)

    async def flows(self, account: str) -> dict[str, int]:
        bodies = self.documents.table("flow", account).bodies()
        states = {name: decode_message(bodies[name], FlowState) for name in bodies}
        return {name: state.published for name, state in states.items() if state.published}

    async def request(self, account: str, request_id: str) -> bytes | None:
        return self.documents.table("request", account).bodies().get(request_id)

    async def requests(self, account: str, ids: Sequence[str]) -> dict[str, bytes]:
        return _some(self.documents.table("request", account).bodies(), ids)

    async def route(self, number: str) -> bytes | None:
        entry = self.documents.table("route").entries.get(number)
        return entry.body if entry else None

    async def routes(self) -> dict[str, bytes]:
        return self.documents.table("route").bodies()

    async def agent_changes(self, account: str, after: str) -> tuple[list[str], str]:
        changes = self.documents.agent_changes.get(account, [])
        start = int(after) if after else len(changes)
        changed = changes[start : start + MAX_CHANGES]
        return changed, str(start + len(changed))

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        entry = self.documents.table("agent", account).entries.get(agent_id)
        return entry.body if entry else None

    async def agents(self, account: str, ids: Sequence[str] | None = None) -> dict[str, bytes]:
        return _some(self.documents.table("agent", account).bodies(), ids)

    async def put_drained(self, node: str, is_drained: bool) -> None:
        self._drained = self._drained | {node} if is_drained else self._drained - {node}

    async def drained(self) -> frozenset[str]:
        return self._drained


def _some(bodies: dict[str, bytes], ids: Sequence[str] | None) -> dict[str, bytes]:
    return bodies if ids is None else {each: bodies[each] for each in ids if each in bodies}


class _DncList:
    def __init__(self) -> None:
        self.numbers: set[str] = set()
        self.version = 0
        self.is_complete = False


class MemoryDialPolicyStore:
    """Implements `DialPolicyStore`."""

    def __init__(self) -> None:
        self._policies: dict[str, bytes] = {}
        self._stopped: frozenset[str] = frozenset()
        self._lists: dict[str, _DncList] = {}

    async def put(self, account: str, body: bytes, *, is_stopped: bool = False) -> None:
        self._policies[account] = body
        others = self._stopped - {account}
        self._stopped = others | {account} if is_stopped else others

    async def stopped(self) -> frozenset[str]:
        return self._stopped

    async def get(self, account: str) -> bytes | None:
        return self._policies.get(account)

    async def all(self) -> dict[str, bytes]:
        return dict(self._policies)

    async def change_list(self, account: str, change: DncListChange) -> int:
        stored = self._lists.get(account, _DncList())
        if change.after not in {0, stored.version}:
            return stored.version
        if change.after == 0:
            stored = _DncList()
        stored.numbers = (stored.numbers | set(change.add)) - set(change.remove)
        stored.is_complete = stored.is_complete or change.is_whole
        stored.version = change.version
        self._lists[account] = stored
        return stored.version

    async def list_versions(self, accounts: Sequence[str]) -> list[int]:
        return [self._lists.get(account, _DncList()).version for account in accounts]

    async def delete_list(self, account: str) -> None:
        self._lists.pop(account, None)

    async def is_listed(self, account: str, numbers: Sequence[str]) -> bool | None:
        stored = self._lists.get(account, _DncList())
        return not stored.numbers.isdisjoint(numbers) if stored.is_complete else None
