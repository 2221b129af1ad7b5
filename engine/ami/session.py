"""One connection to a manager interface: actions with their responses, and events.

A response is known by its ActionID, a random number of this connection: text of a phone that looks
like a response has none that is known.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from ssl import SSLContext
from typing import Any

from engine.ami.messages import END_OF_MESSAGE, Message, read_message, write_action

TIMEOUT_S = 10.0
MAX_PARTIAL = 1 << 20  # bytes of one message
_GREETING = b"Asterisk Call Manager/"


class AmiError(Exception):
    """The PBX has refused an action."""


class _Pending:
    """An action whose response has not arrived as a whole."""

    def __init__(self, *, is_list: bool) -> None:
        self.done: asyncio.Future[list[Message]] = asyncio.get_running_loop().create_future()
        self._is_list = is_list
        self._messages: list[Message] = []

    def add(self, message: Message) -> bool:
        """Add a message; returns whether the response is complete."""
        self._messages.append(message)
        is_first = len(self._messages) == 1
        is_end = message["EventList"] == "Complete" if self._is_list else is_first
        if is_first and (message["Response"] != "Success" or not self._begins(message)):
            self._fail(AmiError(message["Message"] or "an answer that is no list"))
            return True
        if is_end and not self.done.done():
            self.done.set_result(self._messages)
        return is_end

    def lose(self) -> None:
        self._fail(ConnectionResetError("the connection ended"))

    def _begins(self, message: Message) -> bool:
        return not self._is_list or message["EventList"] == "start"

    def _fail(self, error: Exception) -> None:
        if not self.done.done():
            self.done.set_exception(error)


class AmiSession(asyncio.Protocol):
    """One connection; `on_event` gets events, `take` may take others before they are parsed."""

    def __init__(
        self,
        on_event: Callable[[Message], None],
        on_lost: Callable[[], None],
        take: Callable[[bytes], bool] = lambda _: False,
    ) -> None:
        self._on_event = on_event
        self._on_lost = on_lost
        self._take = take
        self._partial = b""
        self._pending: dict[str, _Pending] = {}
        self._transport: asyncio.Transport | None = None
        self.is_lost = False

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Split the stream into messages, and read each by itself."""
        *messages, self._partial = (self._partial + data).split(END_OF_MESSAGE)
        for message in messages:
            self._receive(message)
        if len(self._partial) > MAX_PARTIAL:
            self.close()

    def connection_lost(self, _exc: Exception | None) -> None:
        self.is_lost = True
        for each in self._pending.values():
            each.lose()
        self._pending.clear()
        self._on_lost()

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()

    async def ask(self, action: str, fields: Mapping[str, str] | None = None) -> Message:
        """Return the response to an action; raises AmiError if it is refused, and OSError."""
        return (await self._ask(action, fields or {}, is_list=False))[0]

    async def ask_list(
        self, action: str, fields: Mapping[str, str] | None = None
    ) -> Sequence[Message]:
        """Return the events of a list; raises AmiError also if the response is no list."""
        return (await self._ask(action, fields or {}, is_list=True))[1:-1]

    async def _ask(self, action: str, fields: Mapping[str, str], *, is_list: bool) -> list[Message]:
        action_id = secrets.token_hex(16)
        data = write_action(action, {**fields, "ActionID": action_id})
        if self.is_lost or self._transport is None:
            raise ConnectionResetError("the connection ended")
        pending = self._pending[action_id] = _Pending(is_list=is_list)
        try:
            self._transport.write(data)
            async with asyncio.timeout(TIMEOUT_S):
                return await pending.done
        finally:
            self._pending.pop(action_id, None)

    def _receive(self, data: bytes) -> None:
        if data.startswith(_GREETING):
            data = data.partition(b"\r\n")[2]
        data = data.removeprefix(b"\r\n")  # after some responses
        if not data or self._take(data):
            return
        message = read_message(data)
        if message is None:
            return
        pending = self._pending.get(message["ActionID"])
        if pending is not None:
            if pending.add(message):
                self._pending.pop(message["ActionID"], None)
        elif message.event and not message["ActionID"]:
            self._on_event(message)


async def open_session(
    address: tuple[str, int], session: AmiSession, tls: SSLContext | None
) -> None:
    """Connect a session to an address, host and port; raises OSError."""
    loop = asyncio.get_running_loop()
    await loop.create_connection(lambda: session, *address, ssl=tls)
