"""Redis or Valkey: reachable, new enough, writable, keeping what it is told."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError

from engine.cli.doctor.result import Finding, bad, doubtful, good
from engine.cli.errors import why
from engine.store.redis.address import address_of
from engine.store.redis.pool import pool_of

OLDEST = 6, 2  # XAUTOCLAIM, and XTRIM by MINID
LIMIT_S = 3
ABOUT = "store"


async def check_store(url: str) -> list[Finding]:
    """Ask the server about itself."""
    try:
        address = address_of(url)
        client = Redis(connection_pool=pool_of(address, LIMIT_S))
    except ValueError as error:
        return [bad(ABOUT, str(error), "set SWITCHROOM_REDIS_URL to redis://host:port/0")]
    shown = address.shown.removeprefix("redis://")  # never a password on a screen
    try:
        async with asyncio.timeout(LIMIT_S):
            info = await client.info()
    except AuthenticationError as error:
        return [bad(ABOUT, f"{shown}: {error}", "set user and password in SWITCHROOM_REDIS_URL")]
    except (RedisError, OSError) as error:
        advice = "start it (`make up`), or set SWITCHROOM_REDIS_URL"
        return [bad(ABOUT, f"{shown}: {why(error)}", advice)]
    finally:
        await client.aclose(close_connection_pool=True)
    return list(judged(info, shown))


def judged(info: Mapping[str, Any], shown: str) -> Iterator[Finding]:
    """Judge what INFO tells of a server; `shown` is where it is."""
    yield _version(info, shown)
    if info.get("role") == "slave":
        yield bad(
            ABOUT, "a replica: it takes no writes", "name its primary in SWITCHROOM_REDIS_URL"
        )
    yield _kept(info)
    yield _evicting(info)


def _version(info: Mapping[str, Any], shown: str) -> Finding:
    version = str(info.get("valkey_version") or info.get("redis_version", "?"))
    name = "Valkey" if "valkey_version" in info else "Redis"
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers and numbers < OLDEST:
        return bad(ABOUT, f"{name} {version} at {shown}", "upgrade it to 6.2 or later")
    return good(ABOUT, f"{name} {version} at {shown}")


def _kept(info: Mapping[str, Any]) -> Finding:
    if info.get("aof_enabled"):
        return good(ABOUT, "every write is kept (append-only file)")
    text = "not every write is kept: if it dies, live calls are forgotten"
    return doubtful(ABOUT, text, "CONFIG SET appendonly yes, and in its configuration file")


def _evicting(info: Mapping[str, Any]) -> Finding:
    policy = info.get("maxmemory_policy")
    if policy == "noeviction":
        return good(ABOUT, "nothing is evicted (maxmemory-policy noeviction)")
    if policy is None:
        return doubtful(ABOUT, "its maxmemory-policy can't be told", "it must be noeviction")
    text = f"when memory is short it forgets calls (maxmemory-policy {policy})"
    advice = "CONFIG SET maxmemory-policy noeviction, and in its configuration file"
    return bad(ABOUT, text, advice) if info.get("maxmemory") else doubtful(ABOUT, text, advice)
