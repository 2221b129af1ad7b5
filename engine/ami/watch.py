"""Listening to a PBX's manager interface: how the node is, never what calls do.

panoramisk reads the stream. Its manager is left out: that sends unanswered actions again after a
reconnect, and reconnects in silence when the password is refused. Here a connection is used once.
"""

import asyncio
from collections import deque
from typing import Protocol

import structlog
from panoramisk.ami_protocol import AMIProtocol
from panoramisk.message import Message

log = structlog.get_logger()
CONNECT_S = 5.0
AGAIN_S = 2.0
REFUSED_S = 30.0
PERIOD_S = 10.0  # between two looks at the core: a dead peer is noticed within two of these
TIMESTAMP_HZ = 8_000  # of jitter on a line of telephony


class Listener(Protocol):
    """Who is told; `runtime.health.NodeHealth` is the real one."""

    def booted(self) -> None:
        """Hear that the node is usable."""

    def leaves(self) -> None:
        """Hear that it shuts down."""

    def unwatched(self) -> None:
        """Hear that nothing is heard of it any more."""

    def counted(self, calls: int) -> None:
        """Hear how many calls the node itself counts."""

    def contact(self, endpoint: str, uri: str, is_reachable: bool | None) -> None:
        """Hear how an endpoint's contact is; None: it is gone."""

    def reported(self, loss: float, jitter_ms: float) -> None:
        """Hear how a leg hears the other side."""


class Connection:
    """What panoramisk's protocol asks of its factory, for one connection."""

    forgetable_actions = ("login", "corestatus", "pjsipshowcontacts")

    def __init__(self, listener: Listener) -> None:
        self.ended = asyncio.Event()
        self.awaiting_actions: deque[object] = deque()
        self._listener = listener

    def dispatch(self, event: Message) -> None:
        """Take an event."""
        take(event, self._listener)

    def connection_lost(self, _reason: object) -> None:
        """End."""
        self.ended.set()


class Stream(AMIProtocol):  # type: ignore[misc]  # panoramisk has no types
    """panoramisk's protocol, which knows its factory before anything can happen."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Begin."""
        super().connection_made(transport)
        self.factory = self._connection
        self.encoding = "utf-8"


class AmiWatch:
    """The watch on one node."""

    def __init__(
        self,
        node: str,
        address: tuple[str, int],
        login: tuple[str, str],
        listener: Listener,
        again_s: float = AGAIN_S,
    ) -> None:
        self._address = address
        self._login = login
        self._listener = listener
        self._again_s = again_s
        self._is_away = False
        self._log = log.bind(node=node)

    async def run(self) -> None:
        """Listen until cancelled, reconnecting for ever."""
        while True:
            again_s = self._again_s
            try:
                await self._listen()
            except PermissionError as error:
                self._note(str(error))
                again_s = REFUSED_S
            except (OSError, TimeoutError) as error:
                self._note(str(error) or type(error).__name__)
            self._listener.unwatched()
            await asyncio.sleep(again_s)

    async def _listen(self) -> None:
        connection = Connection(self._listener)
        async with asyncio.timeout(CONNECT_S):
            stream = await self._connected(connection)
        try:
            async with asyncio.timeout(CONNECT_S):
                await self._log_in(stream)
            self._log.info("node watched")
            self._is_away = False
            await self._look(stream)
            await self._until_silent(stream, connection)
        finally:
            stream.close()

    async def _connected(self, connection: Connection) -> Stream:
        host, port = self._address
        loop = asyncio.get_running_loop()
        _, stream = await loop.create_connection(lambda: Stream(connection), host, port)
        return stream

    async def _log_in(self, stream: Stream) -> None:
        user, secret = self._login
        answer = await stream.send(
            {"Action": "Login", "Username": user, "Secret": secret, "Events": "system,reporting"}
        )
        if not answer.success:
            raise PermissionError("the manager's user or password is refused")

    async def _look(self, stream: Stream) -> None:
        """See which contacts can be reached; what changes is told afterwards."""
        async with asyncio.timeout(PERIOD_S):
            found = await stream.send({"Action": "PJSIPShowContacts"})
        for each in found if isinstance(found, list) else ():
            take(each, self._listener)

    async def _until_silent(self, stream: Stream, connection: Connection) -> None:
        while not connection.ended.is_set():
            async with asyncio.timeout(PERIOD_S):
                status = await stream.send({"Action": "CoreStatus"})
            if status.CoreCurrentCalls.isdigit():
                self._listener.counted(int(status.CoreCurrentCalls))
            await _wait(connection.ended, PERIOD_S)
        raise ConnectionResetError("the connection ended")

    def _note(self, error: str) -> None:
        if not self._is_away:
            self._is_away = True
            self._log.warning("node not watched", error=error)


async def _wait(event: asyncio.Event, most_s: float) -> None:
    try:
        async with asyncio.timeout(most_s):
            await event.wait()
    except TimeoutError:
        pass


def take(event: Message, listener: Listener) -> None:
    """Tell a listener what an event means, if it means anything."""
    match event.event:
        case "FullyBooted":
            listener.booted()
        case "Shutdown":
            listener.leaves()
        case "ContactStatus":
            listener.contact(event.EndpointName, event.URI, _reachable(event.ContactStatus))
        case "ContactList":
            listener.contact(event.Endpoint, event.Uri, _reachable(event.Status))
        case "RTCPReceived" | "RTCPSent":  # how the other side hears us, and how we hear it
            _take_report(event, listener)
        case _:
            pass


def _reachable(status: str) -> bool | None:
    return None if status == "Removed" else status not in {"Unreachable", "Unavailable"}


def _take_report(event: Message, listener: Listener) -> None:
    try:
        loss, jitter = int(event.Report0FractionLost), int(event.Report0IAJitter)
    except (TypeError, ValueError):
        return  # nothing was heard on that line
    listener.reported(loss / 256, jitter * 1000 / TIMESTAMP_HZ)
