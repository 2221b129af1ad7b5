"""One dedicated connection for scripts: a third to a half of a pooled client's CPU a call.

What is asked in one tick of the loop goes out in one write: with many slots, a write for each
would be the engine's largest cost.
"""

import asyncio
from hashlib import sha1
from pathlib import Path

from msgspec import Struct
from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection
from redis.exceptions import ConnectionError as Disconnected
from redis.exceptions import NoScriptError, RedisError, ResponseError

from engine.store.errors import StoreDown

Answer = int | bytes


class Script:
    """A Lua script, called by its digest."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.digest = sha1(source.encode(), usedforsecurity=False).hexdigest()


def script(*names: str) -> Script:
    """Read a script, made of one file or of several, one after another."""
    return Script("".join(Path(__file__).with_name(f"{name}.lua").read_text() for name in names))


class _Asked(Struct, frozen=True, gc=False):
    script: Script
    key: str
    argument: bytes
    answer: asyncio.Future[Answer]


class Link:
    """Runs scripts in the order asked, on a connection of its own, made again when it is lost."""

    def __init__(self, pool: ConnectionPool, timeout_s: float) -> None:
        self._pool = pool
        self._timeout_s = timeout_s
        self._connection: AbstractConnection | None = None
        self._queue: list[_Asked] = []
        self._is_led = False

    async def run(self, script: Script, key: str, argument: bytes) -> Answer:
        """Run a script that may be run twice; raises StoreDown within twice `timeout_s`."""
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._queue.append(_Asked(script, key, argument, answer))
        if not self._is_led:
            # Whoever asks first carries what the others ask meanwhile: cheaper than a task.
            await self._lead()
        return await answer

    async def close(self) -> None:
        """Disconnect."""
        await self._drop()

    async def _lead(self) -> None:
        self._is_led = True
        try:
            while self._queue:
                await asyncio.sleep(0)  # who asks in the same tick comes along
                asked, self._queue = self._queue, []
                await self._serve(asked)
        finally:
            self._is_led = False
            left, self._queue = self._queue, []
            _refuse(left, "interrupted")

    async def _serve(self, asked: list[_Asked]) -> None:
        try:
            async with asyncio.timeout(self._timeout_s):
                is_whole = await self._answered(asked)
            if not is_whole:
                # Behind the same name there may be a new primary by now.
                await self._drop()
        except TimeoutError:
            await self._drop()
            _refuse(asked, f"no answer in {self._timeout_s} s")
        except (RedisError, OSError) as error:
            await self._drop()
            _refuse(asked, f"{type(error).__name__}: {error}")
        finally:
            _refuse(asked, "interrupted")

    async def _answered(self, asked: list[_Asked]) -> bool:
        """Ask and hand out the answers; False when the server refused one of them."""
        reused = self._connection is not None
        try:
            answers = await self._ask(asked, by_digest=True)
            if any(isinstance(each, NoScriptError) for each in answers):
                answers = await self._ask(asked, by_digest=False)
        except Disconnected:
            if not reused:
                raise
            # An idle connection that the server has closed says so only now.
            await self._drop()
            return await self._answered(asked)
        for each, answer in zip(asked, answers, strict=True):
            if isinstance(answer, ResponseError):
                _refuse([each], f"{type(answer).__name__}: {answer}")
            elif not each.answer.done():
                each.answer.set_result(answer)
        return not any(isinstance(each, ResponseError) for each in answers)

    async def _ask(self, asked: list[_Asked], *, by_digest: bool) -> list[Answer | ResponseError]:
        if self._connection is None:
            self._connection = self._pool.make_connection()  # type: ignore[no-untyped-call]  # redis-py's own
        connection = self._connection  # connects by itself when it sends
        frames: list[bytes] = []
        for each in asked:
            command = ("EVALSHA", each.script.digest) if by_digest else ("EVAL", each.script.source)
            frames += connection.pack_command(*command, 1, each.key, each.argument)
        await connection.send_packed_command(b"".join(frames), check_health=False)
        return [await self._read(connection) for _ in asked]

    async def _read(self, connection: AbstractConnection) -> Answer | ResponseError:
        try:
            answer: Answer = await connection.read_response(disable_decoding=True)
        except ResponseError as error:  # of this script; the next answer stands behind it
            return error
        return answer

    async def _drop(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await connection.disconnect(nowait=True)


def _refuse(asked: list[_Asked], reason: str) -> None:
    for each in asked:
        if not each.answer.done():
            each.answer.set_exception(StoreDown(reason))
