"""Whether the lab works in Docker: `python -m tests.harness.compose_trial` tries it.

Compose brings it up; both nodes and the engine must be ready, and one SIPp call must go through
each node. Ends with 0 and a word where no Docker engine with compose answers.
"""

import asyncio
import sys
import tempfile
from collections.abc import Mapping

import aiohttp

from tests.harness import compose
from tests.harness.env import ARI_PORTS, ENGINE_PORT, ensure_env
from tests.harness.ports import free_ports

NUMBER = "15550199"
SIP_PORTS = {"pbx1": 5060, "pbx2": 5062}
LISTENS = {"type": "gather", "data": {"timeout": 10_000}}


async def trial() -> None:
    """Bring the lab up, try it, and take it down again; raises RuntimeError on the first fault."""
    if not await compose.answers():
        sys.stdout.write("no Docker engine here\n")
        return
    settings = ensure_env(compose.HERE / ".env")
    await compose.run("up", "--detach", "--build", "--wait")
    try:
        await check_ready(settings)
        await check_calls(settings)
    finally:
        await compose.run("down")
    sys.stdout.write(
        "compose: both nodes and the engine are ready, a call went through each node\n"
    )


async def check_ready(settings: Mapping[str, str]) -> None:
    """Ask each node's ARI and the engine whether they are ready."""
    login = aiohttp.encode_basic_auth("switchroom", settings["SWITCHROOM_ARI_PASSWORD"])
    async with aiohttp.ClientSession() as session:
        for port in ARI_PORTS.values():
            url = f"http://127.0.0.1:{port}/ari/asterisk/ping"
            await _ask(session, "GET", url, {"Authorization": login})
        await _ask(session, "GET", f"http://127.0.0.1:{ENGINE_PORT}/readyz", {})


async def check_calls(settings: Mapping[str, str]) -> None:
    """Let a number listen, then have SIPp call it through each node, and hang up."""
    token = {"Authorization": f"Bearer {settings['SWITCHROOM_RPC_TOKEN']}"}
    route = f"http://127.0.0.1:{ENGINE_PORT}/rpc/v1/routes/{NUMBER}"
    body = {"account": settings["SWITCHROOM_ACCOUNT"], "action": LISTENS}
    async with aiohttp.ClientSession() as session:
        await _ask(session, "PUT", route, token, body)
        for name, port in SIP_PORTS.items():
            await call_through(name, port)
        await _ask(session, "DELETE", route, token)


async def call_through(name: str, sip_port: int) -> None:
    """Make one call with SIPp's own caller: INVITE, 200, ACK, one second, BYE, 200."""
    local, media = free_ports(2)
    with tempfile.TemporaryDirectory() as folder:
        process = await asyncio.create_subprocess_exec(
            *("sipp", "-sn", "uac", f"127.0.0.1:{sip_port}", "-s", NUMBER, "-m", "1", "-d", "1000"),
            *("-i", "127.0.0.1", "-p", str(local), "-mp", str(media)),
            *("-nostdin", "-timeout", "20s", "-timeout_error"),
            stdout=asyncio.subprocess.DEVNULL,
            cwd=folder,
        )
        if await process.wait() != 0:
            raise RuntimeError(f"no call went through {name}")


async def _ask(
    session: aiohttp.ClientSession,
    method: str,
    url: str,
    headers: Mapping[str, str],
    body: object = None,
) -> None:
    async with session.request(method, url, headers=headers, json=body) as reply:
        if reply.status >= 400:
            raise RuntimeError(f"{method} {url}: {reply.status} {(await reply.text())[:500]}")


if __name__ == "__main__":
    try:
        asyncio.run(trial())
    except (RuntimeError, aiohttp.ClientError) as error:
        sys.exit(f"compose trial: {error}")
