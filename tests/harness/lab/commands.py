"""Starts, stops and shows the development lab.

Where a Docker engine with compose answers, or with SWITCHROOM_PBX=docker, compose runs the lab;
elsewhere its servers run as processes. Settings are in `.env`.
"""

import asyncio
import json
import sys
from collections.abc import Mapping

from tests.harness.lab import compose
from tests.harness.lab.compose import ROOT
from tests.harness.lab.env import API_PORT, ENGINE_PORT, ensure_env, read_env
from tests.harness.lab.servers import LAB, TRUNK, servers
from tests.harness.ports import taken_ports
from tests.harness.servers.server import Server
from tests.harness.until import until


async def up() -> None:
    """Start the servers that do not run, and return when all are ready."""
    settings = ensure_env(ROOT / ".env")
    in_docker = await compose.should_run()
    if in_docker:
        await compose.run("up", "--detach", "--build", "--wait")
    else:
        for server, ports in servers(settings).items():
            await _ensure_running(server, ports)
    _print(banner(settings, "docker compose exec api " if in_docker else ""))


def banner(settings: Mapping[str, str], prefix: str) -> str:
    """Return where the lab answers, and how it is opened; `prefix` precedes a command there."""
    return f"""ready
  rest    http://127.0.0.1:{API_PORT}/docs
          account   {settings["SWITCHROOM_ACCOUNT"]}
          apiKey    {settings["SWITCHROOM_API_KEY"]}
          apiSecret {settings["SWITCHROOM_API_SECRET"]}
          number    {", ".join(json.loads(settings["SWITCHROOM_CALLER_IDS"]))}
  engine  http://127.0.0.1:{ENGINE_PORT}  (RPC below /rpc/v1, token SWITCHROOM_RPC_TOKEN in .env)
  pbx1    SIP 127.0.0.1:5060, ARI http://127.0.0.1:8088
  pbx2    SIP 127.0.0.1:5062, ARI http://127.0.0.1:8089
  agents  1001 to 1009, password SWITCHROOM_AGENT_PASSWORD in .env
  trunk   {settings.get("SWITCHROOM_TRUNK", TRUNK)}
commands find this account's key in .env of this folder; for other folders:
  (. ./.env; switchroom profile set lab --api-url http://127.0.0.1:{API_PORT} \\
    --api-key "$SWITCHROOM_API_KEY" --rpc-token "$SWITCHROOM_RPC_TOKEN")
this account may call any number but costly ones; a new one may call nothing until you allow it:
  {prefix}switchroom account create acme --allow +47
  {prefix}switchroom account set acme --allow +47 --allow +46 --allow sip:"""


async def down() -> None:
    """Stop all servers, the REST layer and the engine first; stored calls and logs stay."""
    if await compose.should_run():
        await compose.run("down")
    elif (ROOT / ".env").exists():
        for server in reversed(list(servers(ensure_env(ROOT / ".env")))):
            await server.stop()


async def status() -> None:
    """Print the state and the log file of each server."""
    if await compose.should_run():
        await compose.run("ps")
        return
    for server in servers(read_env(ROOT / ".env")):
        state = "down" if not server.running() else "up" if await server.is_ready() else "not ready"
        _print(f"{server.folder.name:8}{state:10}{server.log}")


async def logs() -> None:
    """Follow all log files until interrupted."""
    if await compose.should_run():
        await compose.run("logs", "--follow", "--tail", "20")
        return
    files = [str(path) for path in (*LAB.glob("*/output.log"), *LAB.glob("*/var/log/*.log"))]
    tail = await asyncio.create_subprocess_exec("tail", "-n", "20", "-F", *files)
    await tail.wait()


async def _ensure_running(server: Server, ports: tuple[int, ...]) -> None:
    if server.running():
        await until(server.is_ready, timeout_s=server.ready_within_s, what=str(server.log))
        return
    if taken := taken_ports(ports):
        raise RuntimeError(f"{server.folder.name} needs port {taken[0]}, which another program has")
    _print(f"starting {server.folder.name}")
    await server.start()


def _print(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()
