"""What an account owns, over REST with its key, or over the RPC as an operator.

A kind and an id name a resource; both ways have the same verbs, and the same bodies where the RPC
has them at all.
"""

from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any, Literal, Protocol

from cli.client import Client
from cli.errors import NotFound, RpcError, UsageError
from cli.output import Shown, shown
from cli.rest_client import RestClient, is_missing

Kind = Literal["flow", "request", "agent", "route", "callback", "webhook"]
Value = dict[str, Any]
NAMES: Mapping[Kind, str] = {"request": "API request", "callback": "callbacks"}
_REST: Mapping[Kind, str] = {
    "flow": "flows",
    "request": "requests",
    "agent": "agents",
    "route": "numbers",
    "callback": "callbacks",
    "webhook": "webhooks",
}
_RPC: Mapping[Kind, str] = {**_REST, "route": "routes"}
NO_VERSIONS = "--if-version needs the REST layer: the RPC stores the last one's change"


class Resources(Protocol):
    """The resources of an account; each method raises RpcError or Unreachable."""

    is_rest: bool

    @property
    def account(self) -> str:
        """The account of an operator's command; raises UsageError if none is named."""
        ...

    def rows(self, kind: Kind, query: Mapping[str, str] | None = None) -> AsyncIterator[Value]:
        """Yield the resources of a kind."""
        ...

    async def request(
        self,
        method: str,
        kind: Kind,
        *path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Value:
        """Send a request about a resource; `path` has its id and what follows it.

        A change with a version is made only to that version; 0: there is none yet.
        """
        ...


async def remove(resources: Resources, kind: Kind, *path: str, name: str = "") -> Shown:
    """Delete a resource, which people see no response of; raises NotFound."""
    try:
        return shown(await resources.request("DELETE", kind, *path))
    except RpcError as error:
        if is_missing(error):
            raise NotFound(NAMES.get(kind, kind), name or path[0]) from None
        raise


class RestResources:
    """The resources of the account that a key belongs to."""

    is_rest = True
    account = ""  # that of the key

    def __init__(self, rest: RestClient) -> None:
        self.rest = rest

    def rows(self, kind: Kind, query: Mapping[str, str] | None = None) -> AsyncIterator[Value]:
        return self.rest.rows("voice", _REST[kind], query=query)

    async def request(
        self,
        method: str,
        kind: Kind,
        *path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Value:
        steps = ("voice", _REST[kind], *path, *(["route"] if kind == "route" else []))
        return await self.rest.tagged(method, *steps, body=body, query=query, version=version)


class RpcResources:
    """The resources of any account, for an operator."""

    is_rest = False

    def __init__(self, client: Client, account: Callable[[], str]) -> None:
        self._client = client
        self._account = account

    @property
    def account(self) -> str:
        return self._account()

    async def rows(
        self, kind: Kind, query: Mapping[str, str] | None = None
    ) -> AsyncIterator[Value]:
        name = _RPC[kind]
        if kind == "agent":
            of_account = {**(query or {}), "account": self.account}
            found = await self._client.request(Value, "GET", name, query=of_account)
        elif kind == "route":
            by_number = await self._client.request(Value, "GET", name)
            found = {name: [{"number": k, "route": v} for k, v in sorted(by_number.items())]}
        else:
            found = await self._client.request(Value, "GET", name, self.account, query=query)
        for row in found.get(name, []):
            yield row

    async def request(
        self,
        method: str,
        kind: Kind,
        *path: str,
        body: Any = None,
        query: Mapping[str, str] | None = None,
        version: int | None = None,
    ) -> Value:
        if version is not None:
            raise UsageError(NO_VERSIONS)
        # A route names its account itself: its number belongs to no other.
        steps = path if kind == "route" else (self.account, *path)
        if kind == "route" and isinstance(body, dict):
            body = {"account": self.account, **body}
        return await self._client.request(Value, method, _RPC[kind], *steps, body=body, query=query)
