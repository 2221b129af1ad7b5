"""Ended calls with logs of the largest size: whatever reads or compresses them does it in pieces.

What each script does is counted by the server, which reports every command of every client.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import pytest
from msgspec import Struct
from redis.asyncio import Redis

from engine.store.compressed_call import DICTIONARY, PIECE_LINES
from engine.store.redis.store import RedisStore
from tests.harness.calls.long_calls import call_with_marks
from tests.harness.servers.valkey import Valkey
from tests.harness.shards import at
from tests.harness.store.stores import change, claim_shard
from tests.harness.until import MAX_WAIT_S

MARKS = 150_000
CALLS = 8
BATCH = 32  # calls that are compressed at once
RECORDS = 50  # that are read at once
COMMANDS = 5  # of a script, for each call
LARGE = b"\xc1" + b"x" * 60_000  # a line with a tree of verbs
END = "the end of the test"


class Script(Struct):
    """What a script did, or a command outside any: its commands, and what they had."""

    commands: int = 0
    lines: int = 0  # of logs
    keys: int = 0


class Report:
    """The commands of all clients, by script."""

    def __init__(self) -> None:
        self.scripts: list[Script] = []

    @property
    def most_commands(self) -> int:
        return max(each.commands for each in self.scripts)

    @property
    def most_lines(self) -> int:
        """The most lines of logs that were read or written at once."""
        return max(each.lines for each in self.scripts)

    @property
    def most_keys(self) -> int:
        return max(each.keys for each in self.scripts)

    @property
    def lines_of_scripts(self) -> int:
        """The lines of logs that scripts have read."""
        return sum(each.lines for each in self.scripts if each.commands > 1)

    def add(self, command: str, *, is_in_script: bool) -> None:
        """Add a command; those of a script follow it."""
        if not is_in_script:
            self.scripts.append(Script())
        self.scripts[-1].commands += 1
        words = command.split(" ")
        self.scripts[-1].lines += _lines(words)
        self.scripts[-1].keys += len(words) - 1 if words[0].lower() == "mget" else 0


def _lines(words: Sequence[str]) -> int:
    match words:
        case ["LRANGE" | "lrange", _key, first, "-1"]:
            return MARKS - int(first)
        case ["LRANGE" | "lrange", _key, first, last]:
            return int(last) - int(first) + 1
        case ["RPUSH" | "rpush", key, *lines] if ":log:" in key:
            return len(lines)
        case _:
            return 0


@asynccontextmanager
async def reported(valkey: Valkey) -> AsyncIterator[Report]:
    """Report what the server does meanwhile."""
    report = Report()
    async with Redis.from_url(valkey.url) as client, client.monitor() as monitor:

        async def read() -> None:
            while END not in (found := await monitor.next_command())["command"]:
                report.add(found["command"], is_in_script=found["client_type"] == "lua")

        reading = asyncio.create_task(read())
        yield report
        await client.echo(END)
        await reading


@pytest.fixture
async def store(shared_valkey: Valkey) -> AsyncIterator[RedisStore]:
    """Provide an empty store with the time of a test."""
    await shared_valkey.flush()
    made = RedisStore(shared_valkey.url, timeout_s=MAX_WAIT_S)
    yield made
    await made.close()
    await shared_valkey.flush()


LOG = [*call_with_marks(MARKS).log]


async def end_calls(store: RedisStore, valkey: Valkey, token: int, calls: int) -> list[str]:
    """Store ended calls with long logs; all but their ends are appended directly."""
    names = [f"0-pbx1-long{number:06}" for number in range(calls)]
    async with Redis.from_url(valkey.url) as client:
        first, *others = (f"{{pbx1:3}}:log:{name}" for name in names)
        for begin in range(0, len(LOG) - 1, 2_000):
            await client.rpush(first, *LOG[begin : min(begin + 2_000, len(LOG) - 1)])
        for each in others:
            await client.copy(first, each)
    for name in names:
        last = change(name, seq=len(LOG) - 1, live=False, state=b"over", log=(LOG[-1],))
        await store.commit(at(3), token, [last])
    return names


async def compress(store: RedisStore, token: int) -> int:
    return await store.compress_ended({at(3): token}, -5_000, BATCH, DICTIONARY)


async def test_long_calls_are_compressed_and_read_in_pieces(
    store: RedisStore, shared_valkey: Valkey
) -> None:
    """No script and no command has more lines than a piece; short calls do not wait."""
    token = await claim_shard(store, at(3))
    names = await end_calls(store, shared_valkey, token, CALLS)
    async with reported(shared_valkey) as report:
        assert await store.log(at(3), names[0]) == LOG
        assert await compress(store, token) == CALLS
        assert await store.log(at(3), names[-1]) == LOG
        assert await store.log(at(3), names[0], MARKS - 3) == LOG[MARKS - 3 :]
        assert await store.log(at(3), names[0], PIECE_LINES - 1, 2) == LOG[PIECE_LINES - 1 :][:2]
        found = {call_id: state async for call_id, state in store.ended(at(3))}
        assert found == dict.fromkeys(names, b"over")
        for name in names:
            await store.forget(at(3), name)
    assert report.most_lines == PIECE_LINES
    assert report.most_commands <= COMMANDS * BATCH
    async with Redis.from_url(shared_valkey.url) as client:
        assert [key async for key in client.scan_iter("*long*")] == []


async def test_a_short_log_with_large_lines_is_read_alone(
    store: RedisStore, shared_valkey: Valkey
) -> None:
    """No script reads it: its lines may have a tree of verbs each."""
    token, log = await claim_shard(store, at(3)), (LARGE,) * (PIECE_LINES // 2)
    for name in ("c1", "c2"):
        await store.commit(at(3), token, [change(name, log=log, state=b"over", live=False)])
    async with reported(shared_valkey) as report:
        assert await compress(store, token) == 2
        assert await store.log(at(3), "c1") == [*log]
    assert report.lines_of_scripts == 0


async def test_lost_lines_of_a_long_call_are_few_commands(
    store: RedisStore, shared_valkey: Valkey
) -> None:
    """A change after all lines were lost, or are compressed, keeps its number."""
    token = await claim_shard(store, at(3))
    async with reported(shared_valkey) as report:
        late = change("late", seq=MARKS, live=False, log=(b"\xc1late",))
        await store.commit(at(3), token, [late])
    assert await store.log(at(3), "late", MARKS - 1) == [b"", b"\xc1late"]
    assert len(await store.log(at(3), "late")) == MARKS + 1
    assert report.most_commands < MARKS // 500


@pytest.mark.parametrize("lost", [1, 999, 1_000, 1_001, 2_500])
async def test_as_many_lines_as_were_lost(store: RedisStore, lost: int) -> None:
    """None more, and none less."""
    token = await claim_shard(store, at(3))
    await store.commit(at(3), token, [change("c1")])
    await store.commit(at(3), token, [change("c1", seq=1 + lost)])
    assert await store.log(at(3), "c1") == [
        b"\xc1entry 0",
        *[b""] * lost,
        b"\xc1entry %d" % (1 + lost),
    ]


async def test_records_of_ended_calls_are_read_in_parts(
    store: RedisStore, shared_valkey: Valkey
) -> None:
    """A record may have a megabyte."""
    token = await claim_shard(store, at(3))
    for number in range(3 * RECORDS):
        await store.commit(at(3), token, [change(f"c{number}", live=False)])
    async with reported(shared_valkey) as report:
        found = [call_id async for call_id, _ in store.ended(at(3))]
    assert sorted(found) == sorted(f"c{number}" for number in range(3 * RECORDS))
    assert report.most_keys == RECORDS
