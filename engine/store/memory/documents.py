"""Documents in this process's memory: the twin of those in Redis."""

from collections.abc import Sequence

from engine.store.store import MAX_AGENT_CHANGES, MAX_FLOW_VERSIONS
from wire.dial_policy import DncListChange


class MemoryDocuments:
    """Flows, API requests, number routes, agents; drained nodes."""

    def __init__(self) -> None:
        self._flows: dict[str, dict[str, int]] = {}
        self._versions: dict[tuple[str, str], dict[int, bytes]] = {}
        self._requests: dict[str, dict[str, bytes]] = {}
        self._routes: dict[str, bytes] = {}
        self._agents: dict[str, dict[str, bytes]] = {}
        self._agent_changes: dict[str, list[str]] = {}
        self._phones: dict[str, bytes] = {}
        self._endpoints: dict[str, str] = {}
        self._drained: frozenset[str] = frozenset()

    async def put_flow(self, account: str, flow_id: str, body: bytes) -> int:
        versions = self._versions.setdefault((account, flow_id), {})
        version = max(versions, default=0) + 1  # version numbers outlive the flow
        versions[version] = body
        versions.pop(version - MAX_FLOW_VERSIONS, None)
        self._flows.setdefault(account, {})[flow_id] = version
        return version

    async def flow(self, account: str, flow_id: str, version: int = 0) -> tuple[int, bytes] | None:
        number = version or self._flows.get(account, {}).get(flow_id, 0)
        body = self._versions.get((account, flow_id), {}).get(number)
        return None if body is None else (number, body)

    async def flows(self, account: str) -> dict[str, int]:
        return dict(self._flows.get(account, {}))

    async def flow_versions(self, account: str, flow_id: str) -> list[int]:
        exists = flow_id in self._flows.get(account, {})
        return sorted(self._versions[account, flow_id]) if exists else []

    async def delete_flow(self, account: str, flow_id: str) -> bool:
        return self._flows.get(account, {}).pop(flow_id, None) is not None

    async def put_request(self, account: str, request_id: str, body: bytes | None) -> None:
        _put(self._requests.setdefault(account, {}), request_id, body)

    async def request(self, account: str, request_id: str) -> bytes | None:
        return self._requests.get(account, {}).get(request_id)

    async def requests(self, account: str) -> dict[str, bytes]:
        return dict(self._requests.get(account, {}))

    async def put_route(self, number: str, body: bytes | None) -> None:
        _put(self._routes, number, body)

    async def route(self, number: str) -> bytes | None:
        return self._routes.get(number)

    async def routes(self) -> dict[str, bytes]:
        return dict(self._routes)

    async def put_agent(self, account: str, agent_id: str, body: bytes | None) -> None:
        _put(self._agents.setdefault(account, {}), agent_id, body)
        self._agent_changes.setdefault(account, []).append(agent_id)

    async def agent_changes(self, account: str, after: str) -> tuple[list[str], str]:
        changes = self._agent_changes.get(account, [])
        start = int(after) if after else len(changes)
        changed = changes[start : start + MAX_AGENT_CHANGES]
        return changed, str(start + len(changed))

    async def agent(self, account: str, agent_id: str) -> bytes | None:
        return self._agents.get(account, {}).get(agent_id)

    async def agents(self, account: str) -> dict[str, bytes]:
        return dict(self._agents.get(account, {}))

    async def put_phone(self, name: str, body: bytes) -> None:
        self._phones[name] = body

    async def phones(self) -> dict[str, bytes]:
        return dict(self._phones)

    async def claim_endpoint(self, endpoint: str, account: str) -> str:
        return self._endpoints.setdefault(endpoint, account)

    async def release_endpoint(self, endpoint: str, account: str) -> None:
        if self._endpoints.get(endpoint) == account:
            del self._endpoints[endpoint]

    async def endpoint_owner(self, endpoint: str) -> str | None:
        return self._endpoints.get(endpoint)

    async def put_drained(self, node: str, is_drained: bool) -> None:
        self._drained = self._drained | {node} if is_drained else self._drained - {node}

    async def drained(self) -> frozenset[str]:
        return self._drained


def _put(table: dict[str, bytes], name: str, body: bytes | None) -> None:
    if body is None:
        table.pop(name, None)
    else:
        table[name] = body


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
