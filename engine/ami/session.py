"""One connection to a manager interface: actions with their responses, and events.

A response is known by its ActionID, a random number of this connection: text of a phone that looks
like a response has none that is known. Nor is such text an event in a list: Asterisk sends events
between the answers to actions, never in one (docs/asterisk.md).
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping, Sequence
from ssl import SSLContext
from typing import Any

from engine.ami.messages import END_OF_MESSAGE, Message, read_line, read_message, write_action

TIMEOUT_S = 10.0
MAX_PARTIAL = 1 << 20  # bytes of one message
_GREETING = b"Asterisk Call Manager/"


class AmiError(Exception):
    """The PBX has refused an action."""


class _Pending:
    """An action whose response has not arrived as a whole."""

    def __init__(self, action_id: str, *, is_list: bool) -> None:
        self.done: asyncio.Future[list[Message]] = asyncio.get_running_loop().create_future()
        self._is_list = is_list
        self._second_line = f"ActionID: {action_id}".encode()
        self._end = self._second_line + b"\r\nEventList: Complete"
        self._lines: list[list[bytes]] = []  # the parts of each

    def begin(self, message: Message) -> bool:
        """Take the response; returns whether a list follows."""
        is_begun = not self._is_list or message["EventList"] == "start"
        if message["Response"] != "Success" or not is_begun:
            self._fail(AmiError(message["Message"] or "an answer that is no list"))
            return False
        if not self._is_list:
            self._finish([message])
        return self._is_list

    def add(self, data: bytes) -> bool:
        """Add what follows in a list; returns whether the list is complete.

        What does not begin as Asterisk's messages do is text of a phone in the one before.
        """
        first, _, rest = data.partition(b"\r\n")
        if rest.startswith(self._end) and first.endswith(b"Complete"):
            self._finish([read_line(END_OF_MESSAGE.join(each)) for each in self._lines])
            return True
        if rest.startswith(self._second_line):
            self._lines.append([])
        if self._lines:
            self._lines[-1].append(data)
        return False

    def lose(self) -> None:
        self._fail(ConnectionResetError("the connection ended"))

    def _finish(self, messages: list[Message]) -> None:
        if not self.done.done():
            self.done.set_result(messages)

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
        self._list: _Pending | None = None  # which is arriving
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
        return await self._ask(action, fields or {}, is_list=True)

    async def _ask(self, action: str, fields: Mapping[str, str], *, is_list: bool) -> list[Message]:
        action_id = secrets.token_hex(16)
        data = write_action(action, {**fields, "ActionID": action_id})
        if self.is_lost or self._transport is None:
            raise ConnectionResetError("the connection ended")
        pending = self._pending[action_id] = _Pending(action_id, is_list=is_list)
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
        if self._list is not None:
            if self._list.add(data):
                self._list = None
        elif data and not self._take(data):
            self._receive_message(read_message(data))

    def _receive_message(self, message: Message | None) -> None:
        if message is None:
            return
        pending = self._pending.get(message["ActionID"])
        if pending is not None:
            if pending.begin(message):
                self._list = pending
        elif message.event and not message["ActionID"]:
            self._on_event(message)


async def open_session(
    address: tuple[str, int], session: AmiSession, tls: SSLContext | None
) -> None:
    """Connect a session to an address, host and port; raises OSError."""
    loop = asyncio.get_running_loop()
    await loop.create_connection(lambda: session, *address, ssl=tls)
