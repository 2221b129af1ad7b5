"""Redis or Valkey: reachable, new enough, writable, keeping what it is told."""

import asyncio
from collections.abc import Iterator, Mapping
from typing import Any

from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError

from engine.cli.doctor.result import Finding, failure, ok, warning
from engine.cli.errors import error_text
from engine.store.redis.address import parse_address
from engine.store.redis.pool import create_pool

OLDEST = 6, 2  # XAUTOCLAIM, and XTRIM by MINID
LIMIT_S = 3
ABOUT = "store"


async def check_store(url: str) -> list[Finding]:
    """Ask the server about itself."""
    try:
        address = parse_address(url)
        client = Redis(connection_pool=create_pool(address, LIMIT_S))
    except ValueError as error:
        return [failure(ABOUT, str(error), "set SWITCHROOM_REDIS_URL to redis://host:port/0")]
    shown = address.redacted.removeprefix("redis://")  # never a password on a screen
    try:
        async with asyncio.timeout(LIMIT_S):
            info = await client.info()
    except AuthenticationError as error:
        return [
            failure(ABOUT, f"{shown}: {error}", "set user and password in SWITCHROOM_REDIS_URL")
        ]
    except (RedisError, OSError) as error:
        advice = "start it (`make up`), or set SWITCHROOM_REDIS_URL"
        return [failure(ABOUT, f"{shown}: {error_text(error)}", advice)]
    finally:
        await client.aclose(close_connection_pool=True)
    return list(check_info(info, shown))


def check_info(info: Mapping[str, Any], shown: str) -> Iterator[Finding]:
    """Judge what INFO tells of a server; `shown` is where it is."""
    yield _version(info, shown)
    if info.get("role") == "slave":
        yield failure(
            ABOUT, "a replica: it takes no writes", "name its primary in SWITCHROOM_REDIS_URL"
        )
    yield _kept(info)
    yield _evicting(info)


def _version(info: Mapping[str, Any], shown: str) -> Finding:
    version = str(info.get("valkey_version") or info.get("redis_version", "?"))
    name = "Valkey" if "valkey_version" in info else "Redis"
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers and numbers < OLDEST:
        return failure(ABOUT, f"{name} {version} at {shown}", "upgrade it to 6.2 or later")
    return ok(ABOUT, f"{name} {version} at {shown}")


def _kept(info: Mapping[str, Any]) -> Finding:
    if info.get("aof_enabled"):
        return ok(ABOUT, "every write is kept (append-only file)")
    text = "not every write is kept: if it dies, live calls are forgotten"
    return warning(ABOUT, text, "CONFIG SET appendonly yes, and in its configuration file")


def _evicting(info: Mapping[str, Any]) -> Finding:
    policy = info.get("maxmemory_policy")
    if policy == "noeviction":
        return ok(ABOUT, "nothing is evicted (maxmemory-policy noeviction)")
    if policy is None:
        return warning(ABOUT, "its maxmemory-policy can't be told", "it must be noeviction")
    text = f"when memory is short it forgets calls (maxmemory-policy {policy})"
    advice = "CONFIG SET maxmemory-policy noeviction, and in its configuration file"
    return failure(ABOUT, text, advice) if info.get("maxmemory") else warning(ABOUT, text, advice)
