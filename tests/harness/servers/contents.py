"""Everything that servers have written: files below a folder, and what a store holds."""

from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any, cast

from redis.asyncio import Redis


def files_with(folder: Path, text: str) -> set[str]:
    """Return the names of the files, relative to a folder, that contain a text."""
    wanted = text.encode()
    return {str(path.relative_to(folder)) for path in _files(folder) if wanted in _read(path)}


async def keys_with(url: str, text: str) -> set[str]:
    """Return the keys of a Redis that contain a text in their name or value."""
    wanted = text.encode()
    async with Redis.from_url(url) as client:
        return {
            repr(key) async for key, value in _values(client) if wanted in key or wanted in value
        }


def _files(folder: Path) -> Iterator[Path]:
    return (each for each in folder.rglob("*") if each.is_file() and not each.is_symlink())


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:  # a temporary one
        return b""


async def _values(client: Redis) -> AsyncIterator[tuple[bytes, bytes]]:
    """Yield each key with all that it holds, as one text."""
    async for key in client.scan_iter(count=1_000):
        yield key, b"\n".join(_flat(await _value(cast("Any", client), key)))


async def _value(client: Any, key: bytes) -> Any:
    kind = (await client.type(key)).decode()
    reads = {
        "string": ("GET", key),
        "hash": ("HGETALL", key),
        "list": ("LRANGE", key, 0, -1),
        "set": ("SMEMBERS", key),
        "zset": ("ZRANGE", key, 0, -1),
        "stream": ("XRANGE", key, "-", "+"),
    }
    return await client.execute_command(*reads[kind])


def _flat(value: Any) -> Iterator[bytes]:
    """Yield the bytes in an answer, however deep they lie."""
    if isinstance(value, bytes):
        yield value
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from _flat(name)
            yield from _flat(each)
    elif isinstance(value, list | tuple | set | frozenset):
        for each in value:
            yield from _flat(each)
    elif value is not None:
        yield str(value).encode()
