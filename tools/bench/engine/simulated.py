"""The real engine and a real Valkey, with the simulated PBX instead of Asterisk."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from types import MappingProxyType

import aiohttp
import msgspec
from msgspec import Struct

from dev.servers.server import Server
from tests.harness.pbx.asterisk import Pbx
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey
from tools.bench.engine.simulated_calls import Load, Result
from tools.bench.ivr.prompts import serve_folder, write_prompts
from tools.bench.ivr.stack import BY_ENGINE, standard_tree

ROOT = Path(__file__).parents[3]
LIMITS = {"SWITCHROOM_MAX_CALLS": "20000", "SWITCHROOM_MAX_CALLS_PER_S": "20000"}
ENGINE_CPU, OTHERS_CPU = "0", "1"


class SimulatedPbxProcess(Pbx):
    """The simulated PBX as a node."""

    def prepare(self) -> None:
        """Create the folder; there is no configuration."""
        Server.prepare(self)

    def command(self) -> Sequence[str]:
        """Return the command, on the CPU that the engine does not use."""
        return ("taskset", "-c", OTHERS_CPU, *self._program(), str(self.ports.ari))

    def _program(self) -> Sequence[str]:
        return (sys.executable, "-m", "tools.bench.engine.simulated_pbx", self.name)

    def environment(self) -> Mapping[str, str]:
        """Return the import path."""
        return {"PYTHONPATH": str(ROOT)}

    async def websocket_ports(self) -> frozenset[int]:
        """Return the engines' ports of all open websockets."""
        reply = await self._request("GET", "websockets", b"")
        return frozenset(msgspec.json.decode(reply, type=list[int]))

    async def run(self, load: Load) -> Result:
        """Run a load and return its result when all calls have ended."""
        reply = await self._request("POST", "run", msgspec.json.encode(load))
        return msgspec.json.decode(reply, type=Result)

    async def hang_up_all(self) -> None:
        """Hang up all calls as their callers."""
        await self._request("POST", "hangup", b"{}")

    async def _request(self, method: str, what: str, body: bytes) -> bytes:
        timeout = aiohttp.ClientTimeout(total=120)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.request(method, f"{self.url}/simulated/{what}", data=body) as reply,
        ):
            reply.raise_for_status()
            return await reply.read()


class PinnedEngine(Engine):
    """An engine pinned to one CPU."""

    def command(self) -> Sequence[str]:
        """Return the command, pinned to the engine's CPU."""
        return ("taskset", "-c", ENGINE_CPU, *super().command())


class EngineInMemory(PinnedEngine):
    """A pinned engine with the in-memory store, so that commits cost nothing."""

    def command(self) -> Sequence[str]:
        """Return the in-memory engine, pinned to the engine's CPU."""
        return ("taskset", "-c", ENGINE_CPU, sys.executable, "-m", "tools.bench.engine.in_memory")

    def environment(self) -> Mapping[str, str]:
        """Return the settings and the import path."""
        return {**super().environment(), "PYTHONPATH": str(ROOT)}


class PinnedValkey(Valkey):
    """A Valkey pinned to the other CPU."""

    def command(self) -> Sequence[str]:
        """Return the command, pinned to the other CPU."""
        return ("taskset", "-c", OTHERS_CPU, *super().command())


class Simulated(Struct, frozen=True):
    """The three running processes, and the address of the prompts."""

    pbx: SimulatedPbxProcess
    valkey: Valkey
    engine: Engine
    audio: str

    @property
    def pids(self) -> Mapping[str, int]:
        """Return the processes whose CPU is measured."""
        return {"engine": self.engine.pid, "pbx": self.pbx.pid, "valkey": self.valkey.pid}

    async def route(self, number: str, action: Mapping[str, object]) -> None:
        """Route a number to an action."""
        await self.engine.documents.route(number, {"account": "bench", "action": action})


@asynccontextmanager
async def simulated(
    folder: Path,
    kind: type[PinnedEngine] = PinnedEngine,
    settings: Mapping[str, str] = MappingProxyType({}),
) -> AsyncIterator[Simulated]:
    """Run the processes in a folder, with settings; BY_ENGINE runs the standard tree."""
    pbx = SimulatedPbxProcess(folder / "pbx1")
    prompts = folder / "prompts"
    write_prompts(prompts)
    async with pbx, PinnedValkey(folder / "valkey") as valkey, serve_folder(prompts) as audio:
        engine = kind(
            folder / "engine", valkey=valkey, nodes=[pbx], settings={**LIMITS, **settings}
        )
        async with engine:
            running = Simulated(pbx, valkey, engine, audio)
            await running.route(BY_ENGINE, standard_tree(audio))
            yield running
