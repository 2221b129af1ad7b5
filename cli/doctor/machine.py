"""Checks of this machine: media folder, speech synthesis, archive of recordings, the engine."""

import asyncio
import io
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import aiohttp

from cli.doctor.result import Finding, failure, ok, warning
from cli.errors import RequestRejected, Unreachable
from cli.http_client import HttpClient
from engine.recordings import ArchiveError, open_archive
from wire.rpc import Nodes, Slots

TEST_FILE = "switchroom-doctor"  # remains: an archive may not allow deletion
TIMEOUT_S = 15.0


def check_media_dir(folder: Path) -> Finding:
    """Check that the engine can write or create its media folder."""
    existing = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return ok("media", f"{folder} can be written")
    text = f"{folder} can't be written" if existing == folder else f"{existing} can't be written"
    return failure("media_folder", "media", text, "make it writable, or set SWITCHROOM_MEDIA_DIR")


def check_espeak(path: str) -> Finding:
    """Check for espeak-ng, which speaks languages other than English; `path` is the PATH."""
    if found := shutil.which("espeak-ng", path=path):
        return ok("speech", f"{found} speaks languages other than English")
    text = "no espeak-ng: only English speech is available"
    return warning("no_espeak", "speech", text, "apt-get install espeak-ng")


async def check_engine(client: HttpClient, slots: int) -> list[Finding]:
    """Check that an engine answers on the RPC port, accepts the token, and has as many slots."""
    try:
        nodes = (await client.request(Nodes, "GET", "/rpc/v1/nodes")).nodes
        found = await client.request(Slots, "GET", "/rpc/v1/slots")
    except RequestRejected as error:
        return [_rejected(client.url, error)]
    except Unreachable as error:
        return [await _not_an_engine(client.url, str(error))]
    findings = [ok("engine", f"answers at {client.url} and accepts the token")]
    if found.slots != slots:
        text = f"the cluster has {found.slots} slots per node, and not {slots}"
        findings.append(
            failure("slots_differ", "engine", text, f"set SWITCHROOM_SLOTS={found.slots}")
        )
    for node in nodes:
        if not node.connected:
            text = f"has no connection to {node.name}"
            findings.append(
                failure("node_not_connected", "engine", text, "see the lines of this node")
            )
    return findings


def _rejected(url: str, error: RequestRejected) -> Finding:
    if error.problem.code == "unauthenticated":
        advice = "SWITCHROOM_RPC_TOKEN must be the token that the engine was started with"
        return failure("unauthenticated", "engine", f"{url} rejects the token", advice)
    return failure(error.problem.code, "engine", f"{url}: {error}", "see the engine's log")


async def _not_an_engine(url: str, reason: str) -> Finding:
    timeout = aiohttp.ClientTimeout(total=2)
    try:
        async with aiohttp.ClientSession(timeout=timeout) as http, http.get(url) as reply:
            await reply.read()
    except aiohttp.ClientConnectorError:
        text = f"no engine at {url}; the port is free"
        return warning(
            "no_engine", "engine", text, "start it with `switchroom dev` or `switchroom engine`"
        )
    except (aiohttp.ClientError, TimeoutError):
        pass
    return failure(
        "port_taken",
        "engine",
        reason,
        "another program uses the port: stop it or set SWITCHROOM_RPC_PORT",
    )


async def check_archive(url: str, s3: Mapping[str, str]) -> Finding:
    try:
        async with asyncio.timeout(TIMEOUT_S):
            archive = await asyncio.to_thread(open_archive, url, s3)
            await archive.put(TEST_FILE, io.BytesIO(b"This archive can be written.\n"))
    except (ArchiveError, OSError, ValueError) as error:
        text = " ".join(str(error).split()) or "no response"
        advice = "SWITCHROOM_RECORDINGS_URL and _RECORDINGS_S3 (docs/recordings.md)"
        return failure("archive_unwritable", "archive", f"{url}: {text[:200]}", advice)
    return ok("archive", f"{url} accepts recordings (and now has a file {TEST_FILE})")
