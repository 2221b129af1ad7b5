"""The real engine and a real Valkey, with the simulated PBX in Asterisk's place."""

import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec
from msgspec import Struct

from tests.bench.engine.simulated_calls import Load, Result
from tests.bench.ivr.prompts import serve_folder, write_prompts
from tests.bench.ivr.stack import BY_ENGINE, standard_tree
from tests.harness.pbx.asterisk import Pbx
from tests.harness.servers.engine import Engine
from tests.harness.servers.server import Server
from tests.harness.servers.valkey import Valkey

HERE = Path(__file__).parents[3]
LIMITS = {"SWITCHROOM_MAX_CALLS": "20000", "SWITCHROOM_MAX_CALLS_PER_S": "20000"}
ENGINE_CPU, OTHERS_CPU = "0", "1"


class SimulatedPbxProcess(Pbx):
    """The simulated PBX in the place of a node."""

    def prepare(self) -> None:
        """Make the folder; it has no configuration."""
        Server.prepare(self)

    def command(self) -> Sequence[str]:
        """Return the simulated PBX, on the CPU that is not the engine's."""
        port = str(self.ports.ari)
        program = (sys.executable, "-m", "tests.bench.engine.simulated_pbx", port)
        return ("taskset", "-c", OTHERS_CPU, *program)

    def environment(self) -> Mapping[str, str]:
        """Return where it is imported from."""
        return {"PYTHONPATH": str(HERE)}

    async def run(self, load: Load) -> Result:
        """Let it make a load's calls; returns when they have ended."""
        reply = await self._post("run", msgspec.json.encode(load))
        return msgspec.json.decode(reply, type=Result)

    async def hang_up_all(self) -> None:
        """Let every caller hang up."""
        await self._post("hangup", b"{}")

    async def _post(self, what: str, body: bytes) -> bytes:
        timeout = aiohttp.ClientTimeout(total=120)
        async with (
            aiohttp.ClientSession(timeout=timeout) as session,
            session.post(f"{self.url}/simulated/{what}", data=body) as reply,
        ):
            reply.raise_for_status()
            return await reply.read()


class PinnedEngine(Engine):
    """An engine that has one CPU, and only that."""

    def command(self) -> Sequence[str]:
        """Return the engine's command on its CPU."""
        return ("taskset", "-c", ENGINE_CPU, *super().command())


class EngineInMemory(PinnedEngine):
    """One whose store is the memory twin: it keeps its calls to itself, and pays nothing for it."""

    def command(self) -> Sequence[str]:
        """Return the bench's own program on the engine's CPU."""
        return ("taskset", "-c", ENGINE_CPU, sys.executable, "-m", "tests.bench.engine.in_memory")

    def environment(self) -> Mapping[str, str]:
        """Return where it is imported from, too."""
        return {**super().environment(), "PYTHONPATH": str(HERE)}


class PinnedValkey(Valkey):
    """A Valkey that leaves the engine's CPU alone."""

    def command(self) -> Sequence[str]:
        """Return the server's command on the others' CPU."""
        return ("taskset", "-c", OTHERS_CPU, *super().command())


class Simulated(Struct, frozen=True):
    """The three processes, running."""

    pbx: SimulatedPbxProcess
    valkey: Valkey
    engine: Engine
    audio: str

    @property
    def pids(self) -> Mapping[str, int]:
        """Name the processes whose CPU counts."""
        return {"engine": self.engine.pid, "pbx": self.pbx.pid, "valkey": self.valkey.pid}

    async def route(self, number: str, action: Mapping[str, object]) -> None:
        """Say what calls to a number run."""
        await self.engine.rpc("PUT", f"/routes/{number}", {"account": "bench", "action": action})


@asynccontextmanager
async def simulated(
    folder: Path, kind: type[PinnedEngine] = PinnedEngine
) -> AsyncIterator[Simulated]:
    """Run them in a folder; the standard tree runs on BY_ENGINE."""
    pbx = SimulatedPbxProcess(folder / "pbx1")
    prompts = folder / "prompts"
    write_prompts(prompts)
    async with pbx, PinnedValkey(folder / "valkey") as valkey, serve_folder(prompts) as audio:
        engine = kind(folder / "engine", valkey=valkey, nodes=[pbx], settings=LIMITS)
        async with engine:
            running = Simulated(pbx, valkey, engine, audio)
            await running.route(BY_ENGINE, standard_tree(audio))
            yield running
