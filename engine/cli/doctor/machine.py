"""This machine: the media folder, the speakers, the engine's port."""

import os
import shutil
from pathlib import Path

import aiohttp

from engine.cli.client import Client
from engine.cli.doctor.result import Finding, failure, ok, warning
from engine.cli.errors import RpcError, Unreachable


def check_media_dir(folder: Path) -> Finding:
    """Tell whether the engine can write its audio, or make the folder for it."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return ok("media", f"{folder} can be written")
    text = f"{folder} can't be written" if there == folder else f"{there} can't be written"
    return failure("media", text, "make it writable, or set SWITCHROOM_MEDIA_DIR")


def check_espeak(path: str) -> Finding:
    """Tell whether languages other than English can be spoken; `path` is where to look."""
    if found := shutil.which("espeak-ng", path=path):
        return ok("speech", f"{found} speaks languages other than English")
    text = "no espeak-ng: only English can be spoken"
    return warning("speech", text, "apt-get install espeak-ng")


async def check_engine(client: Client) -> list[Finding]:
    """Tell who has the RPC's port, and whether the token opens it."""
    try:
        nodes = await client.nodes()
    except RpcError as error:
        return [_refused(client.url, error)]
    except Unreachable as error:
        return [await _not_an_engine(client.url, str(error))]
    findings = [ok("engine", f"answers at {client.url}, the token is right")]
    for node in nodes:
        if not node.connected:
            text = f"has no connection to {node.name}"
            findings.append(failure("engine", text, "see this node's lines"))
    return findings


def _refused(url: str, error: RpcError) -> Finding:
    if error.problem.code == "unauthorized":
        advice = "SWITCHROOM_RPC_TOKEN must be the same here and where the engine was started"
        return failure("engine", f"{url} refuses the token", advice)
    return failure("engine", f"{url}: {error}", "see the engine's log")


async def _not_an_engine(url: str, why: str) -> Finding:
    limit = aiohttp.ClientTimeout(total=2)
    try:
        async with aiohttp.ClientSession(timeout=limit) as http, http.get(url) as reply:
            await reply.read()
    except aiohttp.ClientConnectorError:
        text = f"none runs at {url}, the port is free"
        return warning("engine", text, "start it with `make up` or `switchroom engine`")
    except (aiohttp.ClientError, TimeoutError):
        pass
    return failure(
        "engine", why, "another program has the port: end it, or set SWITCHROOM_RPC_PORT"
    )
