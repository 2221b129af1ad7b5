"""Checks of Redis or Valkey: reachable, version, writable, persistent, replicas, eviction."""

import asyncio
import time
from collections.abc import Iterator, Mapping
from typing import Any

from msgspec.structs import replace
from redis.asyncio import Redis
from redis.exceptions import AuthenticationError, RedisError

from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import error_text
from engine.store.errors import StoreDown
from engine.store.redis.address import StoreAddress, parse_address
from engine.store.redis.cluster.topology import Topology
from engine.store.redis.pool import create_pool

MIN_VERSION = 6, 2  # XAUTOCLAIM, and XTRIM by MINID
TIMEOUT_S = 3
MAX_OFFSET_S = 2
_SUBJECT = "store"


async def check_store(url: str) -> list[Finding]:
    """Connect and check the INFO of the server, or of each primary of a cluster."""
    try:
        address = parse_address(url)
    except ValueError as error:
        return [
            failure(
                "invalid_settings",
                _SUBJECT,
                str(error),
                "set SWITCHROOM_REDIS_URL to redis://host:port/0",
            )
        ]
    shown = address.redacted.removeprefix("redis://")  # without the password
    if address.cluster:
        return await _check_cluster(address, shown)
    client = Redis(connection_pool=create_pool(address, TIMEOUT_S))
    try:
        return await _check_server(client, shown)
    finally:
        await client.aclose(close_connection_pool=True)


async def _check_cluster(address: StoreAddress, shown: str) -> list[Finding]:
    topology = Topology(address, TIMEOUT_S)
    try:
        await topology.load()
        names = [":".join(map(str, each.location)) for each in topology.primaries]
        checks = map(_check_server, [each.client for each in topology.primaries], names)
        checked = await asyncio.gather(*checks)
    except StoreDown as error:
        return [
            failure(
                "store_down", _SUBJECT, f"{shown}: {error}", "start it, or set SWITCHROOM_REDIS_URL"
            )
        ]
    finally:
        await topology.close()
    return [
        replace(finding, subject=f"{_SUBJECT} {name}")
        for name, findings in zip(names, checked, strict=True)
        for finding in findings
    ]


async def _check_server(client: Redis, shown: str) -> list[Finding]:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            info = await client.info()
            seconds, microseconds = await client.time()
            offset_s = time.time() - seconds - microseconds / 1_000_000
    except AuthenticationError as error:
        return [
            failure(
                "store_password",
                _SUBJECT,
                f"{shown}: {error}",
                "set user and password in SWITCHROOM_REDIS_URL",
            )
        ]
    except (RedisError, OSError) as error:
        advice = "start it (`switchroom dev`), or set SWITCHROOM_REDIS_URL"
        return [failure("store_down", _SUBJECT, f"{shown}: {error_text(error)}", advice)]
    return [*check_info(info, shown), check_clock(offset_s)]


def check_clock(offset_s: float) -> Finding:
    """Check how far this machine's clock is ahead of the server's."""
    if abs(offset_s) < MAX_OFFSET_S:
        return ok(_SUBJECT, "its clock agrees with this machine's")
    side = "ahead of" if offset_s > 0 else "behind"
    text = f"this machine's clock is {abs(offset_s):.0f} s {side} its clock"
    return failure("store_clock", _SUBJECT, text, "synchronize both with NTP (timedatectl)")


def check_info(info: Mapping[str, Any], shown: str) -> Iterator[Finding]:
    """Check the INFO of a server; `shown` is its address."""
    yield _version(info, shown)
    if info.get("role") == "slave":
        yield failure(
            "store_read_only",
            _SUBJECT,
            "a replica: it is read-only",
            "set SWITCHROOM_REDIS_URL to its primary",
        )
    yield _persistence(info)
    yield from _replication(info)
    yield _eviction(info)


def _version(info: Mapping[str, Any], shown: str) -> Finding:
    version = str(info.get("valkey_version") or info.get("redis_version", "?"))
    name = "Valkey" if "valkey_version" in info else "Redis"
    numbers = tuple(int(each) for each in version.split(".")[:2] if each.isdigit())
    if numbers and numbers < MIN_VERSION:
        return failure(
            "store_version", _SUBJECT, f"{name} {version} at {shown}", "upgrade it to 6.2 or later"
        )
    return ok(_SUBJECT, f"{name} {version} at {shown}")


def _persistence(info: Mapping[str, Any]) -> Finding:
    if info.get("aof_last_write_status", "ok") != "ok":
        text = "its last write to the append-only file failed: it accepts no changes"
        return failure(
            "store_write_failed", _SUBJECT, text, "look at its log, and for space on its disk"
        )
    if info.get("aof_enabled"):
        return ok(_SUBJECT, "writes are persistent (append-only file)")
    text = "writes are not persistent: a crash loses live calls"
    return warning(
        "store_not_persistent",
        _SUBJECT,
        text,
        "CONFIG SET appendonly yes, and in its configuration file",
    )


def _replication(info: Mapping[str, Any]) -> Iterator[Finding]:
    """Check that a primary with replicas stops writing when none follows: it is then replaced."""
    replicas, following = info.get("connected_slaves", 0), info.get("min_slaves_good_slaves")
    if info.get("cluster_enabled") and not replicas:
        text = "has no replica: its part of the calls stops when it dies"
        yield warning("store_no_replica", _SUBJECT, text, "add one (CLUSTER REPLICATE)")
    if following is None and replicas:
        text = f"writes without its replicas ({replicas}): a failover may lose changes"
        advice = "CONFIG SET min-replicas-to-write 1 and min-replicas-max-lag 2, and in its file"
        yield warning("store_unsafe_failover", _SUBJECT, text, advice)
    elif following:
        yield ok(_SUBJECT, "writes only while a replica follows (min-replicas-to-write)")
    elif following is not None:
        text = "no replica follows: with min-replicas-to-write it accepts no changes"
        yield failure(
            "store_no_replica", _SUBJECT, text, "start its replicas, and look at their network"
        )


def _eviction(info: Mapping[str, Any]) -> Finding:
    policy = info.get("maxmemory_policy")
    if policy == "noeviction":
        return ok(_SUBJECT, "nothing is evicted (maxmemory-policy noeviction)")
    if policy is None:
        return warning(
            "store_evicts", _SUBJECT, "its maxmemory-policy is unknown", "it must be noeviction"
        )
    text = f"evicts calls when memory is low (maxmemory-policy {policy})"
    advice = "CONFIG SET maxmemory-policy noeviction, and in its configuration file"
    return (
        failure("store_evicts", _SUBJECT, text, advice)
        if info.get("maxmemory")
        else warning("store_evicts", _SUBJECT, text, advice)
    )
