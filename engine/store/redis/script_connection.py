"""One dedicated connection for scripts: a fraction of a pooled client's CPU a call (decision 0027).

What is asked in one tick of the loop goes out in one write: with many slots, a write for each
would be the engine's largest cost.
"""

import asyncio
from collections import deque
from collections.abc import Callable, Iterable
from typing import cast

from hiredis import ProtocolError, Reader
from msgspec import Struct
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from engine.store.errors import StoreDown
from engine.store.redis.lua_script import LuaScript

ScriptResult = int | bytes


class ServerError(Exception):
    """The server's own words why it did not do what it was asked."""


class RespProtocol(asyncio.Protocol):
    """Tells every answer, in order, and once that it was lost; nothing after it was closed."""

    def __init__(
        self, answered: Callable[[ScriptResult | ServerError], None], lost: Callable[[], None]
    ) -> None:
        self._on_reply = answered
        self._on_lost = lost
        self._reader = Reader(replyError=ServerError)
        self._connection: AbstractConnection | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self, pool: ConnectionPool) -> None:
        """Connect as the pool does: by its address, over TLS, logged in, to the primary.

        Raises RedisError and OSError.
        """
        connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]  # redis-py's own
        await connection.connect()  # type: ignore[no-untyped-call]  # redis-py's own
        # What redis-py reads by is a stream and a task's turn for each answer: half of a commit's
        # CPU. It has no other door to its transport.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001 - see above
        self._connection, self._transport = connection, cast("asyncio.Transport", writer.transport)
        self._transport.set_protocol(self)

    def write(self, data: bytes) -> None:
        """Send."""
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Hang up, and tell nothing more."""
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if transport is not None:
            transport.abort()  # what a server that hangs has not read yet, it is not to do later
        if connection is not None:
            # What is awaited to hang up does just this, at once.
            connection._close()  # type: ignore[no-untyped-call]  # noqa: SLF001  # redis-py's own

    def data_received(self, data: bytes) -> None:
        """Take what came; who speaks something else is no store, and is left."""
        try:
            self._reader.feed(data)
            while self._transport is not None and (answer := self._reader.gets()) is not False:
                self._on_reply(answer)
        except ProtocolError:
            self._on_lost()

    def connection_lost(self, _error: Exception | None) -> None:
        """Tell it, unless it was closed here."""
        if self._transport is not None:
            self._on_lost()


MAX_TRIES = 2  # an idle connection that the server has closed says so only when it is used
UNKNOWN_SCRIPT = "NOSCRIPT"  # so the server says that it does not have a script


class _ScriptCall(Struct, gc=False, eq=False):
    script: LuaScript
    key: str
    argument: bytes
    result: asyncio.Future[ScriptResult]
    called_s: float
    tries: int = 0
    sends_source: bool = False

    def frame(self) -> bytes:
        """Give what is sent, once more."""
        self.tries += 1
        return self.script.command(self.key, self.argument, whole=self.sends_source)


class ScriptConnection:
    """Runs scripts in the order asked, on a connection of its own, made again when it is lost."""

    def __init__(self, pool: ConnectionPool, timeout_s: float) -> None:
        self.connections = 0  # made so far, one after the other
        self._pool = pool
        self._timeout_s = timeout_s
        self._protocol: RespProtocol | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._unsent: list[_ScriptCall] = []
        self._sent: deque[_ScriptCall] = deque()  # in the order of their answers
        self._is_send_scheduled = False
        self._is_stale = False  # behind the same name there may be a new primary by now
        self._timer: asyncio.TimerHandle | None = None

    async def run(self, script: LuaScript, key: str, argument: bytes) -> ScriptResult:
        """Run a script that may be run twice; raises StoreDown within `timeout_s`."""
        loop = asyncio.get_running_loop()
        asked = _ScriptCall(script, key, argument, loop.create_future(), loop.time())
        self._unsent.append(asked)
        self._send_soon()
        self._schedule_check(self._timeout_s)
        return await asked.result

    async def close(self) -> None:
        """Disconnect."""
        if self._connecting is not None:
            self._connecting.cancel()
            await asyncio.gather(self._connecting, return_exceptions=True)
        if self._timer is not None:
            self._timer.cancel()
        self._disconnect()
        self._fail_unsent("closed")

    def _send_soon(self) -> None:
        if not self._is_send_scheduled:  # who asks in the same tick comes along
            self._is_send_scheduled = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_send_scheduled = False
        if self._protocol is None:
            self._connect()
        elif not self._is_stale:
            self._write(self._protocol)

    def _write(self, line: RespProtocol) -> None:
        asked, self._unsent = self._unsent, []
        line.write(b"".join([each.frame() for each in asked]))
        self._sent += asked

    def _connect(self) -> None:
        if self._connecting is None and self._unsent:
            self._connecting = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        line = RespProtocol(self._on_reply, self._disconnect)
        try:
            async with asyncio.timeout(self._timeout_s):
                await line.open(self._pool)
        except TimeoutError:
            self._fail_unsent(f"no answer in {self._timeout_s} s")
        except (RedisError, OSError) as error:
            self._fail_unsent(f"{type(error).__name__}: {error}")
        else:
            self._protocol = line
            self.connections += 1
            self._send()
        finally:
            self._connecting = None

    def _on_reply(self, answer: ScriptResult | ServerError) -> None:
        if not self._sent:  # nobody asked
            self._disconnect()
            return
        asked = self._sent.popleft()
        if not isinstance(answer, ServerError):
            if not asked.result.done():
                asked.result.set_result(answer)
        elif str(answer).startswith(UNKNOWN_SCRIPT) and not asked.sends_source:
            asked.sends_source = True
            self._unsent.append(asked)
            self._send_soon()
        else:
            _fail([asked], str(answer))
            self._is_stale = True
        if self._is_stale and not self._sent:
            self._disconnect()

    def _disconnect(self) -> None:
        """Hang up; what is not answered is asked once more, on another connection."""
        if self._protocol is not None:
            self._protocol.close()
            self._protocol, self._is_stale = None, False
        sent, self._sent = [each for each in self._sent if not each.result.done()], deque()
        _fail([each for each in sent if each.tries >= MAX_TRIES], "connection lost")
        self._unsent[:0] = [each for each in sent if each.tries < MAX_TRIES]
        if self._unsent:
            self._send_soon()

    def _check_timeouts(self) -> None:
        """Give up what has waited for too long: one timer does for all."""
        now_s, self._timer = asyncio.get_running_loop().time(), None
        waiting = [each for each in (*self._sent, *self._unsent) if not each.result.done()]
        late = [each for each in waiting if each.called_s + self._timeout_s <= now_s]
        if late:
            _fail(late, f"no answer in {self._timeout_s} s")
            self._unsent = [each for each in self._unsent if not each.result.done()]
            self._disconnect()
        if left := [each.called_s for each in waiting if not each.result.done()]:
            self._schedule_check(min(left) + self._timeout_s - now_s)

    def _schedule_check(self, after_s: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(after_s, self._check_timeouts)

    def _fail_unsent(self, reason: str) -> None:
        unsent, self._unsent = self._unsent, []
        _fail(unsent, reason)


def _fail(asked: Iterable[_ScriptCall], reason: str) -> None:
    for each in asked:
        if not each.result.done():
            each.result.set_exception(StoreDown(reason))
