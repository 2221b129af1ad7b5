"""Documents as the REST layer brings them to an engine: in batches, each with its version."""

import itertools
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from wire.documents.versioned import CALLBACK_ID, DocumentKind

Send = Callable[[str, str, object], Awaitable[Any]]  # method, path and body; what it answers


class DocumentPush:
    """Writes the documents of accounts by an engine's RPC; raises AssertionError if one is refused.

    It counts the versions of flows, and remembers the callback settings that it has stored.
    """

    def __init__(self, send: Send) -> None:
        self._send = send
        self._version = 0
        self._numbers: defaultdict[tuple[str, str], itertools.count[int]]
        self._numbers = defaultdict(lambda: itertools.count(1))
        self._callbacks: dict[str, Mapping[str, Any]] = {}

    async def route(self, number: str, route: Mapping[str, Any]) -> None:
        """Route a number."""
        await self.put(route["account"], "route", number, route)

    async def flow(self, account: str, flow_id: str, flow: object) -> int:
        """Store and publish a flow's next version; return its number."""
        number = next(self._numbers[account, flow_id])
        version = {"account": account, "flow": flow_id, "number": number, "body": flow}
        state = {"published": number, "last": number}
        await self._patch(account, "flow", flow_id, state, flowVersions=[version])
        return number

    async def request(self, account: str, request_id: str, request: object) -> None:
        """Store an API request, with its secrets."""
        await self.put(account, "request", request_id, request)

    async def agent(self, account: str, agent_id: str, agent: object) -> None:
        """Store an agent."""
        await self.put(account, "agent", agent_id, agent)

    async def password(self, account: str, agent_id: str, agent: object, password: str) -> None:
        """Set the password of an agent's phone."""
        path = f"/agents/{account}/{agent_id}/password/draft"
        drafted = await self._send("POST", path, {"password": password, "agent": agent})
        await self.put(account, "phone", drafted["id"], drafted["document"])

    async def callback(self, account: str, settings: object) -> Mapping[str, Any]:
        """Set the callback target; return the settings with their secret."""
        return await self.change_callback(account, "put", settings)

    async def change_callback(
        self, account: str, change: str, settings: object = None
    ) -> Mapping[str, Any]:
        """Make a change of the callback settings; return what is stored then."""
        body = {"change": change, "before": self._callbacks.get(account), "settings": settings}
        drafted = await self._send("POST", f"/callbacks/{account}/draft", body)
        self._callbacks[account] = drafted["settings"]
        await self.put(account, "callback", CALLBACK_ID, drafted["settings"])
        return self._callbacks[account]

    async def put(self, account: str, kind: DocumentKind, doc_id: str, body: object) -> None:
        """Store a document; None deletes it."""
        await self._patch(account, kind, doc_id, body)

    async def delete(self, account: str, kind: DocumentKind, doc_id: str) -> None:
        """Delete a document."""
        await self._patch(account, kind, doc_id, None)

    async def _patch(
        self, account: str, kind: DocumentKind, doc_id: str, body: object, **more: object
    ) -> None:
        version = self._version = max(self._version + 1, time.time_ns() // 1_000_000)
        change = {"account": account, "kind": kind, "id": doc_id, "version": version}
        request = {"changes": [{**change, "body": body}], **more}
        answer = await self._send("PATCH", "/documents", request)
        assert answer == {"versions": [version]}, f"{kind} {doc_id} of {account}: {answer}"
