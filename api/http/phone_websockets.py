"""Websockets of phones in browsers, passed on to PBX nodes.

Asterisk serves them with the HTTP server of ARI, which has one limit of connections for both: if
strangers reached it, they could keep engines from it. So browsers connect here. A websocket needs
an origin that is known and a ticket of the REST layer, and an account has a share of them.
"""

import asyncio
import re
import socket
import ssl
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from http import HTTPStatus
from ipaddress import ip_address
from typing import Any, Self
from urllib.parse import parse_qsl, urlsplit

import structlog
from msgspec import Struct
from uvicorn.protocols.utils import get_remote_addr
from uvicorn.server import ServerState
from yarl import URL

from api.config import Settings
from api.engine_client import verifier
from api.http.header_limits import end_with_problem
from api.http.websocket_frames import FrameCounter, FrameShares
from api.metrics import Metrics
from wire.error_codes.catalogue import code_of_status

log = structlog.get_logger()
PATH = "/srmain/phones/"
AccountKey = tuple[str, str]  # an account, and the id of one of its API keys
# A node on this machine knows this process by its address (PBX_PHONE_PROXIES): that of everything
# else here is 127.0.0.1, also of a page in a browser.
LOOPBACK_SOURCE = "127.0.0.2"
OPENS_WITHIN_S = 5.0
# A tab that vanished without a word is noticed within a minute.
KEEPALIVE = {socket.TCP_KEEPIDLE: 30, socket.TCP_KEEPINTVL: 10, socket.TCP_KEEPCNT: 3}
MAX_HEAD_BYTES = 8_192  # of a node's response
_KEY = re.compile(r"[A-Za-z0-9+/]{22}==")
_ACCEPTED = b"HTTP/1.1 101 "


class PhoneLimits(Struct, frozen=True):
    """Most websockets in this process: to one node, and of one account to all nodes."""

    of_node: int
    of_account: int


class PbxAddress(Struct, frozen=True):
    """A node's HTTP server."""

    host: str
    port: int
    tls: bool

    @classmethod
    def parse(cls, url: str) -> "PbxAddress":
        """Read `http://host:port` or `https://host:port`."""
        parts = urlsplit(url)
        is_tls = parts.scheme == "https"
        return cls(parts.hostname or "", parts.port or (443 if is_tls else 80), is_tls)

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def source(self) -> tuple[str, int] | None:
        """Return the address to connect from; None lets the kernel choose it."""
        try:
            is_here = ip_address(self.host).is_loopback and ":" not in self.host
        except ValueError:
            return None
        return (LOOPBACK_SOURCE, 0) if is_here else None


class Refused(Exception):
    """A websocket is not opened; `reason` is that of the metric."""

    def __init__(self, status: HTTPStatus, reason: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.reason = reason


class Admitted(Struct, frozen=True):
    """A websocket of an account's API key, to a node, with the key of its handshake."""

    account_key: AccountKey
    node: PbxAddress
    key: str

    @property
    def account_id(self) -> str:
        return self.account_key[0]


class PhoneWebsockets:
    """All websockets of this process: which are opened, and how many there are."""

    def __init__(  # noqa: PLR0913, PLR0917 - collaborators are passed in
        self,
        nodes: Sequence[PbxAddress],
        origins: Collection[str],
        holder_of: Callable[[str], AccountKey | None],
        limits: PhoneLimits,
        tls: ssl.SSLContext | bool,
        metrics: Metrics,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`holder_of` verifies a ticket, and `tls` nodes of https (True: by the system's CAs)."""
        self._nodes = nodes
        self._origins = origins
        self._holder_of = holder_of
        self._limits = limits
        self._tls = tls
        self._metrics = metrics
        self._shares = FrameShares(clock)
        self._of_node: Counter[PbxAddress] = Counter()
        self._of_account: Counter[str] = Counter()
        self._open: dict[PhoneWebsocket, Admitted] = {}
        self._ended: Collection[AccountKey] = ()

    @classmethod
    def build(
        cls, settings: Settings, holder_of: Callable[[str], AccountKey | None], metrics: Metrics
    ) -> Self:
        own = settings.api_phone_url
        # of http where its websocket is ws, without the port of the scheme
        origin = str(URL(own.replace("ws", "http", 1)).origin()) if own else ""
        return cls(
            [PbxAddress.parse(url) for url in settings.api_phone_nodes],
            {*settings.cors_origins, origin} - {""},
            holder_of,
            PhoneLimits(settings.api_max_phones, settings.api_max_phones_of_account),
            verifier(settings.tls_ca),
            metrics,
        )

    def admit(self, target: str, headers: Mapping[str, str]) -> Admitted:
        """Decide on the head of a handshake; raises Refused."""
        path, _, query = target.partition("?")
        node = self._node(path)
        if headers.get("origin") not in self._origins:
            text = "Origin: not one of this server or of SWITCHROOM_CORS_ORIGINS"
            raise Refused(HTTPStatus.FORBIDDEN, "origin", text)
        holder = self._holder_of(dict(parse_qsl(query)).get("ticket", ""))
        if holder is None or holder in self._ended:
            text = "ticket: missing, expired, or of a key that has ended: create credentials again"
            raise Refused(HTTPStatus.FORBIDDEN, "ticket", text)
        key = headers.get("sec-websocket-key", "")
        offered = {each.strip() for each in headers.get("sec-websocket-protocol", "").split(",")}
        version = headers.get("sec-websocket-version")
        if not _KEY.fullmatch(key) or version != "13" or "sip" not in offered:
            text = "expected a websocket of version 13 with the protocol sip"
            raise Refused(HTTPStatus.BAD_REQUEST, "handshake", text)
        if self._of_account[holder[0]] >= self._limits.of_account:
            text = "this account has as many phones here as it may have"
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "account", text)
        if self._shares.is_spent(holder[0]):
            text = "the phones of this account have sent as much as they may in ten seconds"
            raise Refused(HTTPStatus.TOO_MANY_REQUESTS, "flood", text)
        if self._of_node[node] >= self._limits.of_node:
            text = "the node has as many phones as this process may bring to it"
            raise Refused(HTTPStatus.SERVICE_UNAVAILABLE, "node", text)
        return Admitted(holder, node, key)

    def enter(self, websocket: "PhoneWebsocket", admitted: Admitted) -> None:
        self._open[websocket] = admitted
        self._count(admitted, 1)

    def leave(self, websocket: "PhoneWebsocket") -> None:
        if admitted := self._open.pop(websocket, None):
            self._count(admitted, -1)

    def end(self, keys: Collection[AccountKey]) -> None:
        """End the websockets of all keys that have ended, and admit no further ones of them."""
        self._ended = keys
        for websocket, admitted in self._open.items():
            if admitted.account_key in keys:
                websocket.shutdown()

    def is_flood(self, websocket: "PhoneWebsocket", frames: int) -> bool:
        """Count what a phone sends; return whether that is too much."""
        account_id = self._open[websocket].account_id
        if not self._shares.is_exceeded(websocket, account_id, frames):
            return False
        log.warning("phone websocket sends too much", account=account_id)
        return True

    def refuse(self, refused: Refused) -> None:
        """Count a refusal."""
        self._metrics.phone_websockets_refused.labels(refused.reason).inc()
        log.debug("phone websocket refused", reason=refused.reason)

    async def connect(self, browser: "PhoneWebsocket", admitted: Admitted) -> "_NodeSide":
        """Open the node's websocket; raises OSError and TimeoutError."""
        node = admitted.node
        async with asyncio.timeout(OPENS_WITHIN_S):
            loop = asyncio.get_running_loop()
            _, side = await loop.create_connection(
                lambda: _NodeSide(browser),
                node.host,
                node.port,
                ssl=self._tls if node.tls else None,
                local_addr=node.source,
            )
            try:
                await side.open(node, admitted.key)
            except BaseException:
                side.close()
                raise
        return side

    def _node(self, path: str) -> PbxAddress:
        number = path.removeprefix(PATH)
        is_known = path.startswith(PATH) and number in map(str, range(len(self._nodes)))
        if not is_known:
            raise Refused(HTTPStatus.NOT_FOUND, "path", "no websocket has this address")
        return self._nodes[int(number)]

    def _count(self, admitted: Admitted, change: int) -> None:
        node, account_id = admitted.node, admitted.account_id
        self._of_node[node] += change
        self._of_account[account_id] += change
        if not self._of_account[account_id]:
            del self._of_account[account_id]
        self._metrics.phone_websockets.labels(str(node)).set(self._of_node[node])


class PhoneWebsocket(asyncio.Protocol):
    """A connection that uvicorn hands over with the head of its handshake, as `ws` of its Config.

    Once the node has accepted the handshake, bytes pass as they are.
    """

    def __init__(self, phones: PhoneWebsockets, server_state: ServerState) -> None:
        self._phones = phones
        self._state = server_state
        self._node: _NodeSide | None = None
        self._opening: asyncio.Task[None] | None = None
        self._frames = FrameCounter()
        self.client: tuple[str, int] | None = None  # counted by ConnectionLimits
        self.transport: Any = None

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self.client = get_remote_addr(transport)
        connection = transport.get_extra_info("socket")
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for option, value in KEEPALIVE.items():
            connection.setsockopt(socket.IPPROTO_TCP, option, value)
        self._state.connections.add(self)  # type: ignore[arg-type]  # uvicorn calls its shutdown() only

    def data_received(self, data: bytes) -> None:
        if self._node is not None:
            self._pass_on(data, self._node)
        elif self._opening is None:
            self._begin(data.decode("latin-1"))

    def connection_lost(self, _exc: Exception | None) -> None:
        self._state.connections.discard(self)
        if self._opening is not None:
            self._opening.cancel()
        if self._node is not None:
            self._node.close()
        self._phones.leave(self)

    def pause_writing(self) -> None:
        if self._node is not None:
            self._node.read(wanted=False)

    def resume_writing(self) -> None:
        if self._node is not None:
            self._node.read(wanted=True)

    def shutdown(self) -> None:
        """End it with the server: the phone logs in again at another process; or with its key."""
        self.transport.close()

    def _pass_on(self, data: bytes, node: "_NodeSide") -> None:
        if self.transport.is_closing():
            return
        if self._phones.is_flood(self, self._frames.count(data)):
            self.transport.abort()
        else:
            node.write(data)

    def _begin(self, head: str) -> None:
        """Read a head, which uvicorn has parsed and written again."""
        lines = head.split("\r\n")
        target = lines[0].split(" ")[1]
        try:
            admitted = self._phones.admit(target, dict(_headers(lines[1:])))
        except Refused as refused:
            self._refuse(refused)
            return
        self._phones.enter(self, admitted)
        _read(self.transport, wanted=False)
        self._opening = asyncio.get_running_loop().create_task(self._open(admitted))

    async def _open(self, admitted: Admitted) -> None:
        try:
            self._node = await self._phones.connect(self, admitted)
        except (OSError, TimeoutError) as error:
            log.warning("phone websocket failed", node=str(admitted.node), error=repr(error))
            text = "the PBX node does not open the websocket"
            self._refuse(Refused(HTTPStatus.BAD_GATEWAY, "unreachable", text))
            return
        _read(self.transport, wanted=True)

    def _refuse(self, refused: Refused) -> None:
        self._phones.refuse(refused)
        status = refused.status
        end_with_problem(self.transport, status, code_of_status(status), str(refused))


class _NodeSide(asyncio.Protocol):
    """The connection to the node."""

    def __init__(self, browser: PhoneWebsocket) -> None:
        self._browser = browser
        self._head = b""
        self._is_open: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._transport: Any = None

    async def open(self, node: PbxAddress, key: str) -> None:
        """Send a handshake with headers of our own; raises ConnectionError if it is refused."""
        lines = (
            "GET /ws HTTP/1.1",
            f"Host: {node}",
            "Upgrade: websocket",
            "Connection: Upgrade",
            f"Sec-WebSocket-Key: {key}",
            "Sec-WebSocket-Version: 13",
            "Sec-WebSocket-Protocol: sip",
        )
        self.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        await self._is_open

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._is_open.done():
            self._browser.transport.write(data)
            return
        self._head += data
        if b"\r\n\r\n" not in self._head and len(self._head) <= MAX_HEAD_BYTES:
            return
        # Until the node has accepted, a browser could send it other requests, such as those of ARI.
        if self._head.startswith(_ACCEPTED):
            self._is_open.set_result(None)
            self._browser.transport.write(self._head)
        else:
            status = self._head[:64].partition(b"\r\n")[0].decode("latin-1")
            self._is_open.set_exception(ConnectionError(f"it responds {status}"))

    def connection_lost(self, _exc: Exception | None) -> None:
        if not self._is_open.done():
            self._is_open.set_exception(ConnectionError("it closes the connection"))
        elif self._is_open.exception() is None:
            self._browser.transport.close()

    def pause_writing(self) -> None:
        _read(self._browser.transport, wanted=False)

    def resume_writing(self) -> None:
        _read(self._browser.transport, wanted=True)

    def read(self, *, wanted: bool) -> None:
        """Let the node wait while the browser does not read, or no longer."""
        _read(self._transport, wanted=wanted)

    def write(self, data: bytes) -> None:
        self._transport.write(data)

    def close(self) -> None:
        self._transport.close()


def _read(transport: Any, *, wanted: bool) -> None:
    if not transport.is_closing():
        (transport.resume_reading if wanted else transport.pause_reading)()


def _headers(lines: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Yield headers; of one that is there twice the values are one that no rule accepts."""
    found: dict[str, list[str]] = {}
    for line in lines:
        name, separator, value = line.partition(":")
        if separator:
            found.setdefault(name.lower(), []).append(value.strip())
    for name, values in found.items():
        yield name, ", ".join(values)
