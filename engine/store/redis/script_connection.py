"""A dedicated connection for scripts, with a fraction of a pooled client's CPU (decision 0061).

The calls of one tick of the loop are sent in one write: with many shards, a write for each would be
the engine's largest cost.
"""

import asyncio
import struct
from collections import deque
from collections.abc import Callable, Iterable
from hashlib import sha1
from pathlib import Path
from typing import Protocol, cast

import msgspec
from hiredis import ProtocolError, Reader
from msgspec import Struct
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import RedisError

from base.tasks import cancel_all
from engine.store.errors import StoreDown
from wire.shard import ShardId

MAX_TRIES = 2  # a closed idle connection is only noticed when it is used
NEW_CONNECTION = "a new connection: the server may lack the last renewals"
UNKNOWN_SCRIPT = "NOSCRIPT"  # error of a server that does not have a script
ScriptResult = int | bytes


class LuaScript:
    """A script with one key and one argument."""

    def __init__(self, source: str) -> None:
        text = source.encode()
        digest = sha1(text, usedforsecurity=False).hexdigest().encode()
        self._by_digest = b"*5\r\n$7\r\nEVALSHA\r\n$40\r\n%b\r\n$1\r\n1\r\n" % digest
        self._with_source = b"*5\r\n$4\r\nEVAL\r\n$%d\r\n%b\r\n$1\r\n1\r\n" % (len(text), text)

    def command(self, key: str, argument: bytes, *, with_source: bool) -> bytes:
        """Return the command that runs it, encoded in RESP2."""
        name = key.encode()
        head = self._with_source if with_source else self._by_digest
        return b"%b$%d\r\n%b\r\n$%d\r\n%b\r\n" % (head, len(name), name, len(argument), argument)


def load_script(*names: str) -> LuaScript:
    """Load a script from one file, or from several concatenated ones."""
    return LuaScript(
        "".join((Path(__file__).parent / f"lua/{name}.lua").read_text() for name in names)
    )


class ServerError(Exception):
    """An error reply of the server."""


class RespProtocol(asyncio.Protocol):
    """Reports every reply in order, and the loss of the connection; nothing after `close`."""

    def __init__(
        self, on_reply: Callable[[ScriptResult | ServerError], None], on_lost: Callable[[], None]
    ) -> None:
        self._on_reply = on_reply
        self._on_lost = on_lost
        self._reader = Reader(replyError=ServerError)
        self._connection: AbstractConnection | None = None
        self._transport: asyncio.Transport | None = None

    async def open(self, pool: ConnectionPool) -> None:
        """Connect as the pool does: to its address or primary, over TLS, authenticated.

        Raises RedisError and OSError.
        """
        connection: AbstractConnection = pool.make_connection()  # type: ignore[no-untyped-call]  # untyped in redis-py
        await connection.connect()  # type: ignore[no-untyped-call]  # untyped in redis-py
        # redis-py's stream needs a task switch for each reply: half of a commit's CPU.
        writer = cast("asyncio.StreamWriter", connection._writer)  # noqa: SLF001 - not public in redis-py
        self._connection, self._transport = connection, cast("asyncio.Transport", writer.transport)
        self._transport.set_protocol(self)

    def write(self, data: bytes) -> None:
        if self._transport is not None:
            self._transport.write(data)

    def close(self) -> None:
        """Disconnect, and report nothing more."""
        connection, transport = self._connection, self._transport
        self._connection = self._transport = None
        if transport is not None:
            transport.abort()  # a hanging server must not run later what it has not read yet
        if connection is not None:
            # The asynchronous disconnect does the same, only later.
            connection._close()  # type: ignore[no-untyped-call]  # noqa: SLF001 - untyped and not public in redis-py

    def data_received(self, data: bytes) -> None:
        """Parse replies; a server that speaks another protocol is disconnected."""
        try:
            self._reader.feed(data)
            while self._transport is not None and (reply := self._reader.gets()) is not False:
                self._on_reply(reply)
        except ProtocolError:
            self._on_lost()

    def connection_lost(self, _error: Exception | None) -> None:
        """Report the loss, unless it was closed here."""
        if self._transport is not None:
            self._on_lost()


class _ScriptCall(Struct, gc=False, eq=False):
    script: LuaScript
    key: str
    argument: bytes
    result: asyncio.Future[ScriptResult]
    called_s: float
    tries: int
    sends_source: bool = False

    def frame(self) -> bytes:
        """Return the command to send, and count the attempt."""
        self.tries += 1
        return self.script.command(self.key, self.argument, with_source=self.sends_source)


class ScriptRunner(Protocol):
    """Runs repeatable scripts."""

    @property
    def connections(self) -> int:
        """Number of connections opened so far: after a reconnect, the server may lag behind."""

    async def run(
        self, script: LuaScript, key: str, argument: bytes, *, may_open: bool = True
    ) -> ScriptResult:
        """Run a script of one key; raises StoreDown within a limited time.

        Without `may_open` it is not run on a connection that is new, unless it is the first:
        `connections` has then grown, and the caller decides again (decision 0030).
        """

    async def close(self) -> None:
        """Close all connections."""


class ScriptConnection:
    """Implements `ScriptRunner`: in order, on its own connection; reconnects when it is lost."""

    def __init__(self, pool: ConnectionPool, timeout_s: float) -> None:
        self.connections = 0  # opened so far, one after the other
        self._pool = pool
        self._timeout_s = timeout_s
        self._protocol: RespProtocol | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._unsent: list[_ScriptCall] = []
        self._sent: deque[_ScriptCall] = deque()  # in the order of their replies
        self._is_send_scheduled = False
        self._is_stale = False  # the address may lead to a new primary by now
        self._timer: asyncio.TimerHandle | None = None

    async def run(
        self, script: LuaScript, key: str, argument: bytes, *, may_open: bool = True
    ) -> ScriptResult:
        """Run a repeatable script; raises StoreDown within `timeout_s`."""
        if not may_open and self._protocol is None and self.connections:
            await self.open()
            raise StoreDown(NEW_CONNECTION)
        loop, tries = asyncio.get_running_loop(), 0 if may_open else MAX_TRIES - 1
        call = _ScriptCall(script, key, argument, loop.create_future(), loop.time(), tries)
        self._unsent.append(call)
        self._schedule_send()
        self._schedule_check(self._timeout_s)
        return await call.result

    async def open(self) -> None:
        """Connect, if it is not connected; raises StoreDown."""
        if self._protocol is None:
            if self._connecting is None:
                self._connecting = asyncio.get_running_loop().create_task(self._open())
            await asyncio.shield(self._connecting)
        if self._protocol is None:
            raise StoreDown("not connected")

    async def close(self) -> None:
        if self._connecting is not None:
            await cancel_all([self._connecting])
        self._disconnect()
        self._fail_unsent("closed")

    def _schedule_send(self) -> None:
        if not self._is_send_scheduled:  # calls of the same tick are sent together
            self._is_send_scheduled = True
            asyncio.get_running_loop().call_soon(self._send)

    def _send(self) -> None:
        self._is_send_scheduled = False
        if self._protocol is None:
            self._connect()
        elif not self._is_stale:
            self._write(self._protocol)

    def _write(self, protocol: RespProtocol) -> None:
        calls, self._unsent = self._unsent, []
        protocol.write(b"".join([each.frame() for each in calls]))
        self._sent += calls

    def _connect(self) -> None:
        if self._connecting is None and self._unsent:
            self._connecting = asyncio.get_running_loop().create_task(self._open())

    async def _open(self) -> None:
        protocol = RespProtocol(self._on_reply, self._disconnect)
        try:
            async with asyncio.timeout(self._timeout_s):
                await protocol.open(self._pool)
        except TimeoutError:
            self._fail_unsent(f"no answer in {self._timeout_s} s")
        except (RedisError, OSError) as error:
            self._fail_unsent(f"{type(error).__name__}: {error}")
        else:
            self._protocol = protocol
            self.connections += 1
            self._send()
        finally:
            self._connecting = None

    def _on_reply(self, reply: ScriptResult | ServerError) -> None:
        if not self._sent:  # a reply without a call
            self._disconnect()
            return
        call = self._sent.popleft()
        if not isinstance(reply, ServerError):
            if not call.result.done():
                call.result.set_result(reply)
        elif str(reply).startswith(UNKNOWN_SCRIPT) and not call.sends_source:
            call.sends_source = True
            self._unsent.append(call)
            self._schedule_send()
        else:
            _fail([call], str(reply))
            self._is_stale = True
        if self._is_stale and not self._sent:
            self._disconnect()

    def _disconnect(self) -> None:
        """Disconnect; unanswered calls are sent once more, on another connection."""
        if self._protocol is not None:
            self._protocol.close()
            self._protocol, self._is_stale = None, False
        sent, self._sent = [each for each in self._sent if not each.result.done()], deque()
        _fail([each for each in sent if each.tries >= MAX_TRIES], "connection lost")
        self._unsent[:0] = [each for each in sent if each.tries < MAX_TRIES]
        if self._unsent:
            self._schedule_send()

    def _check_timeouts(self) -> None:
        """Fail calls that have waited too long: one timer serves all."""
        now_s, self._timer = asyncio.get_running_loop().time(), None
        pending = [each for each in (*self._sent, *self._unsent) if not each.result.done()]
        late = [each for each in pending if each.called_s + self._timeout_s <= now_s]
        if late:
            _fail(late, f"no answer in {self._timeout_s} s")
            self._unsent = [each for each in self._unsent if not each.result.done()]
            self._disconnect()
        if remaining := [each.called_s for each in pending if not each.result.done()]:
            self._schedule_check(min(remaining) + self._timeout_s - now_s)

    def _schedule_check(self, after_s: float) -> None:
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(after_s, self._check_timeouts)

    def _fail_unsent(self, reason: str) -> None:
        unsent, self._unsent = self._unsent, []
        _fail(unsent, reason)


def _fail(calls: Iterable[_ScriptCall], reason: str) -> None:
    for each in calls:
        if not each.result.done():
            each.result.set_exception(StoreDown(reason))


encode = msgspec.msgpack.Encoder().encode
_string_head = struct.Struct(">BI").pack


def lua_string(data: bytes) -> msgspec.Raw:
    # cmsgpack in Lua reads msgpack strings but not binaries; a Lua string holds any bytes.
    return msgspec.Raw(_string_head(0xDB, len(data)) + data)


def shard_key(shard: ShardId, kind: str, name: str | None = None) -> str:
    """Return the key of a shard's data of a kind, or of one call or account in it."""
    tag = f"{{{shard.node}:{shard.slot}}}"
    return f"{tag}:{kind}:{name}" if name is not None else f"{tag}:{kind}"


def owner_key(shard: ShardId) -> str:
    """Return the key of a shard's owner, which names the shard in every script."""
    return shard_key(shard, "owner")
