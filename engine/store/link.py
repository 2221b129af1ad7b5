"""One dedicated connection for scripts: a third to a half of a pooled client's CPU a call."""

import asyncio
from hashlib import sha1

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError

from engine.store.errors import StoreDown


class Script:
    """A Lua script, called by its digest."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = sha1(source.encode(), usedforsecurity=False).hexdigest()


class Link:
    """Runs scripts one after another on a connection of its own, made again when it is lost."""

    def __init__(self, pool: ConnectionPool, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s
        self._connection: AbstractConnection | None = None
        self._busy = asyncio.Lock()

    async def run(self, script: Script, key: str, argument: bytes) -> int | bytes:
        """Run a script that may be run twice; raises StoreDown within `timeout_s`."""
        async with self._busy:
            try:
                async with asyncio.timeout(self._timeout_s):
                    return await self._run(script, key, argument)
            except TimeoutError:
                await self._drop()
                raise StoreDown(f"no answer in {self._timeout_s} s") from None
            except (RedisError, OSError) as error:
                # Also after a refusal: behind the same name there may be a new primary by now.
                await self._drop()
                raise StoreDown(f"{type(error).__name__}: {error}") from error

    async def close(self) -> None:
        """Disconnect."""
        async with self._busy:
            await self._drop()

    async def _run(self, script: Script, key: str, argument: bytes) -> int | bytes:
        reused = self._connection is not None
        try:
            return await self._ask("EVALSHA", script.digest, key, argument)
        except NoScriptError:
            return await self._ask("EVAL", script.source, key, argument)
        except Disconnected:
            if not reused:
                raise
            # An idle connection that the server has closed says so only now.
            await self._drop()
            return await self._run(script, key, argument)

    async def _ask(self, command: str, body: str, key: str, argument: bytes) -> int | bytes:
        if self._connection is None:
            self._connection = self._pool.make_connection()  # type: ignore[no-untyped-call]
        connection = self._connection  # connects by itself when it sends
        packed = connection.pack_command(command, body, 1, key, argument)
        await connection.send_packed_command(packed, check_health=False)
        reply: int | bytes = await connection.read_response(disable_decoding=True)
        return reply

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)
