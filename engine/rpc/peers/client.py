"""The client for requests between engines: signed, and marked so that they are forwarded once."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol

import aiohttp
from aiohttp import web
from msgspec import Struct
from yarl import URL

from engine.rpc.access import RpcAccess
from engine.rpc.peers.signature import RequestLine, RequestSigner
from wire.shard import ShardId

FORWARDED = "Switchroom-Forwarded"
OWNER_WAIT_S = 3.0  # a shard that moves gets its next owner soon
SHUTDOWN_WAIT_S = 0.25  # clients of an engine that shuts down should retry elsewhere
RETRY_DELAY_S = 0.02
_CONNECT_TIMEOUT_S = 1.0
# Raised before a request is sent; after any other error it may have been executed.
NOT_SENT_ERRORS = (aiohttp.ClientConnectorError, aiohttp.ConnectionTimeoutError)


class ShardDirectory(Protocol):
    """Which engine owns which shard."""

    @property
    def is_leaving(self) -> bool:
        """Whether this engine releases its shards or has released them."""

    @property
    def is_settled(self) -> bool:
        """Whether a live engine owns every shard."""

    @property
    def peer_urls(self) -> Sequence[str]:
        """The RPC URLs of the other engines."""

    def wake(self) -> None:
        """Refresh shard ownership now instead of with the next heartbeat."""

    def url_of(self, shard: ShardId | None) -> str | None:
        """Return the URL of another engine that owns the shard (None: any), if there is one."""


class PeerClient(Struct, frozen=True):
    """The HTTP session to the other engines."""

    directory: ShardDirectory
    session: aiohttp.ClientSession
    signer: RequestSigner

    @property
    def owner_wait_s(self) -> float:
        """How long to wait for the next owner of a shard."""
        return SHUTDOWN_WAIT_S if self.directory.is_leaving else OWNER_WAIT_S

    def request(
        self,
        method: str,
        engine: str,
        path: URL,
        body: bytes = b"",
        headers: Mapping[str, str] | None = None,
    ) -> AbstractAsyncContextManager[aiohttp.ClientResponse]:
        """Send a request to an engine at its URL; `path` is relative to it."""
        url = URL(f"{engine}{path}")
        signature = self.signer.sign(RequestLine(engine, method, url.raw_path_qs), body)
        sent = {**(headers or {}), "Authorization": signature}
        return self.session.request(method, url, data=body or None, headers=sent)


@asynccontextmanager
async def open_peer_client(
    directory: ShardDirectory, access: RpcAccess
) -> AsyncIterator[PeerClient]:
    timeout = aiohttp.ClientTimeout(total=None, sock_connect=_CONNECT_TIMEOUT_S)
    connector = aiohttp.TCPConnector(ssl=access.client_tls or True)
    async with aiohttp.ClientSession(
        headers={FORWARDED: "1"}, timeout=timeout, connector=connector
    ) as session:
        yield PeerClient(directory, session, RequestSigner(access.token, access.clock))


def is_forwarded(request: web.Request) -> bool:
    """Return whether another engine forwarded the request."""
    return FORWARDED in request.headers
