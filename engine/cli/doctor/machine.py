"""This machine: the media folder, the speakers, the engine's port."""

import os
import shutil
from pathlib import Path

import aiohttp

from engine.cli.client import Client
from engine.cli.doctor.result import Finding, bad, doubtful, good
from engine.cli.errors import Refused, Unreachable


def check_media_dir(folder: Path) -> Finding:
    """Tell whether the engine can write its audio, or make the folder for it."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if there.is_dir() and os.access(there, os.W_OK | os.X_OK):
        return good("media", f"{folder} can be written")
    text = f"{folder} can't be written" if there == folder else f"{there} can't be written"
    return bad("media", text, "make it writable, or set SWITCHROOM_MEDIA_DIR")


def check_espeak(path: str) -> Finding:
    """Tell whether languages other than English can be spoken; `path` is where to look."""
    if found := shutil.which("espeak-ng", path=path):
        return good("speech", f"{found} speaks languages other than English")
    text = "no espeak-ng: only English can be spoken"
    return doubtful("speech", text, "apt-get install espeak-ng")


async def check_engine(client: Client) -> list[Finding]:
    """Tell who has the RPC's port, and whether the token opens it."""
    try:
        nodes = await client.nodes()
    except Refused as error:
        return [_refused(client.url, error)]
    except Unreachable as error:
        return [await _not_an_engine(client.url, str(error))]
    findings = [good("engine", f"answers at {client.url}, the token is right")]
    for node in nodes:
        if not node.connected:
            text = f"has no connection to {node.name}"
            findings.append(bad("engine", text, "see this node's lines"))
    return findings


def _refused(url: str, error: Refused) -> Finding:
    if error.problem.code == "unauthorized":
        advice = "SWITCHROOM_RPC_TOKEN must be the same here and where the engine was started"
        return bad("engine", f"{url} refuses the token", advice)
    return bad("engine", f"{url}: {error}", "see the engine's log")


async def _not_an_engine(url: str, why: str) -> Finding:
    limit = aiohttp.ClientTimeout(total=2)
    try:
        async with aiohttp.ClientSession(timeout=limit) as http, http.get(url) as reply:
            await reply.read()
    except aiohttp.ClientConnectorError:
        text = f"none runs at {url}, the port is free"
        return doubtful("engine", text, "start it with `make up` or `switchroom engine`")
    except (aiohttp.ClientError, TimeoutError):
        pass
    return bad("engine", why, "another program has the port: end it, or set SWITCHROOM_RPC_PORT")
