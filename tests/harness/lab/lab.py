"""The lab of development, two nodes and all: `python -m tests.harness.lab.lab up|down|status|logs`.

What runs already stays. State, logs and process ids lie under `.lab/`; settings in `.env`. Where a
Docker engine with compose answers, or SWITCHROOM_PBX=docker says so, compose runs it all instead.
"""

import asyncio
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.harness.lab import compose
from tests.harness.lab.api import LabApi
from tests.harness.lab.engine import LabEngine
from tests.harness.lab.env import (
    AMI_PORTS,
    API_PORT,
    ARI_PORTS,
    ENGINE_PORT,
    LAB_REDIS_URL,
    VALKEY_PORT,
    ensure_env,
    read_env,
)
from tests.harness.pbx.asterisk import Pbx, Ports, Secrets
from tests.harness.ports import taken_ports
from tests.harness.servers.server import Server
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

HERE = Path(__file__).parents[3]
LAB = HERE / ".lab"
PORTS = {
    "pbx1": Ports(
        ARI_PORTS["pbx1"], AMI_PORTS["pbx1"], sip=5060, rtp_first=10_000, rtp_last=14_999
    ),
    "pbx2": Ports(
        ARI_PORTS["pbx2"], AMI_PORTS["pbx2"], sip=5062, rtp_first=15_000, rtp_last=19_999
    ),
}
TRUNK = "sip:127.0.0.1:5080"


def servers(settings: Mapping[str, str]) -> dict[Server, tuple[int, ...]]:
    """Return the lab's servers in the order in which they start, with the ports that each needs."""
    found: dict[Server, tuple[int, ...]] = {}
    if settings["SWITCHROOM_REDIS_URL"] == LAB_REDIS_URL:
        found[Valkey(LAB / "valkey", port=VALKEY_PORT, bound=False)] = (VALKEY_PORT,)
    for name, ports in PORTS.items():
        found[lab_pbx(name, ports, settings)] = (ports.ari, ports.ami, ports.sip)
    found[LabEngine(LAB / "engine", settings, ENGINE_PORT)] = (ENGINE_PORT,)
    found[LabApi(LAB / "api", settings, API_PORT)] = (API_PORT,)
    return found


def lab_pbx(name: str, ports: Ports, settings: Mapping[str, str]) -> Pbx:
    """Return a node of the lab, which lives on when this process has ended."""
    return Pbx(
        LAB / name,
        name=name,
        trunk=settings.get("SWITCHROOM_TRUNK", TRUNK),
        ports=ports,
        passwords=Secrets(
            settings["SWITCHROOM_ARI_PASSWORD"],
            settings["SWITCHROOM_AMI_PASSWORD"],
            settings["SWITCHROOM_AGENT_PASSWORD"],
        ),
        slots=int(settings["SWITCHROOM_SLOTS"]),
        bound=False,
    )


async def up() -> None:
    """Start what does not run, and return when all of it is ready."""
    settings = ensure_env(HERE / ".env")
    if await compose.should_run():
        await compose.run("up", "--detach", "--build", "--wait")
    else:
        for server, ports in servers(settings).items():
            await _ensure(server, ports)
    _say(f"""ready
  rest    http://127.0.0.1:{API_PORT}/docs
          account   {settings["SWITCHROOM_ACCOUNT"]}
          apiKey    {settings["SWITCHROOM_API_KEY"]}
          apiSecret {settings["SWITCHROOM_API_SECRET"]}
  engine  http://127.0.0.1:{ENGINE_PORT}  (RPC below /rpc/v1, token SWITCHROOM_RPC_TOKEN in .env)
  pbx1    SIP 127.0.0.1:5060, ARI http://127.0.0.1:8088
  pbx2    SIP 127.0.0.1:5062, ARI http://127.0.0.1:8089
  agents  1001 to 1009, password SWITCHROOM_AGENT_PASSWORD in .env
  trunk   {settings.get("SWITCHROOM_TRUNK", TRUNK)}""")


async def down() -> None:
    """End all of it, the REST layer and the engine first; stored calls and logs stay."""
    if await compose.should_run():
        await compose.run("down")
    elif (HERE / ".env").exists():
        for server in reversed(list(servers(ensure_env(HERE / ".env")))):
            await server.stop()


async def status() -> None:
    """Say what runs."""
    if await compose.should_run():
        await compose.run("ps")
        return
    for server in servers(read_env(HERE / ".env")):
        state = "down" if not server.running() else "up" if await server.is_ready() else "not ready"
        _say(f"{server.folder.name:8}{state:10}{server.log}")


async def logs() -> None:
    """Follow what all of it says, until interrupted."""
    if await compose.should_run():
        await compose.run("logs", "--follow", "--tail", "20")
        return
    files = [str(path) for path in (*LAB.glob("*/output.log"), *LAB.glob("*/var/log/*.log"))]
    tail = await asyncio.create_subprocess_exec("tail", "-n", "20", "-F", *files)
    await tail.wait()


async def _ensure(server: Server, ports: tuple[int, ...]) -> None:
    if server.running():
        await until(server.is_ready, timeout_s=server.ready_within_s, what=str(server.log))
        return
    if taken := taken_ports(ports):
        raise RuntimeError(f"{server.folder.name} needs port {taken[0]}, which another program has")
    _say(f"starting {server.folder.name}")
    await server.start()


def _say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    deeds = {"up": up, "down": down, "status": status, "logs": logs}
    try:
        asyncio.run(deeds[sys.argv[1]]())
    except KeyboardInterrupt:
        sys.exit(130)
    except (RuntimeError, PermissionError, TimeoutError) as error:
        sys.exit(f"switchroom lab: {error}")
