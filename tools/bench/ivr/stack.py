"""The servers of the benches; Asterisk has the standard call also as dialplan."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from tests.harness.pbx.asterisk import Pbx
from tests.harness.servers.engine import Engine
from tests.harness.servers.valkey import Valkey
from tools.bench.ivr.prompts import serve_folder, write_prompts

BY_DIALPLAN = "+15550700"
BY_ENGINE = "+15550701"
BY_BARE = "+15550703"
# Read has no own prompt here: like the engine's gather, it listens after the prompt.
DIALPLAN = """
[from-trunk](+)
exten => {number},1,Goto(bench,{number},1)
exten => {bare},1,Stasis(bare)

[bench]
exten => {number},1,Answer()
 same => n,Playback({prompts}/first)
 same => n,Read(digits,,4)
 same => n,Playback({prompts}/second)
 same => n,Hangup()
"""
MODULES = "load = app_playback.so\nload = app_read.so\n"


class BenchPbx(Pbx):
    """A standard node with two more numbers: of the dialplan alone, and of the bare application."""

    def prepare(self) -> None:
        """Write the node's files, the prompts, and the standard call as dialplan."""
        super().prepare()
        write_prompts(self.prompts)
        with (self.folder / "etc/modules.conf").open("a") as out:
            out.write(MODULES)
        with (self.folder / "etc/extensions.conf").open("a") as out:
            numbers = {"number": BY_DIALPLAN, "bare": BY_BARE}
            out.write(DIALPLAN.format(**numbers, prompts=self.prompts))

    @property
    def prompts(self) -> Path:
        """Return the folder of the prompts."""
        return self.folder / "prompts"


class Stack(Struct, frozen=True):
    """Running Asterisk, Valkey and engine; `audio` is the address of the prompts."""

    pbx: BenchPbx
    valkey: Valkey
    engine: Engine
    audio: str

    async def route(self, account: str) -> None:
        """Route the engine's number to the standard call of an account."""
        route = {"account": account, "action": standard_tree(self.audio)}
        # Not among the account's documents: a REST layer that has the account would delete it.
        await self.engine.documents.put("bench", "route", BY_ENGINE, route)


@asynccontextmanager
async def stack(folder: Path, settings: Mapping[str, str] | None = None) -> AsyncIterator[Stack]:
    """Run the stack in a folder, with additional engine settings."""
    pbx = BenchPbx(folder / "pbx1")
    async with pbx, Valkey(folder / "valkey") as valkey, serve_folder(pbx.prompts) as audio:
        engine = Engine(folder / "engine", valkey=valkey, nodes=[pbx], settings=settings)
        async with engine:
            running = Stack(pbx, valkey, engine, audio)
            await running.route("bench")
            yield running


def standard_tree(audio: str) -> dict[str, object]:
    """Return the standard call as action verbs; `audio` is the address of the prompts."""
    second = _play(f"{audio}/second.wav", {"type": "hangup", "data": {}})
    gather: dict[str, object] = {"type": "gather", "data": {"maxDigits": 4}, "action": second}
    return _play(f"{audio}/first.wav", gather)


def _play(url: str, action: dict[str, object]) -> dict[str, object]:
    return {"type": "play", "data": {"audioUrl": url}, "action": action}
