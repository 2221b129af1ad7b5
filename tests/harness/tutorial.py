"""The code blocks of docs/tutorial.md or the README, and how a reader runs them.

Blocks in `sh` run in order. One with the title `first terminal` needs a machine of its own, one
with `second terminal` stays running, and a title with a dot is the name of a file. Below a heading
of the third level is one of several choices.

The folder of a page is that of its reader here, and programs are those of the tests.
"""

import asyncio
import os
import re
import sys
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs/tutorial.md"
FIRST_TERMINAL, SECOND_TERMINAL = "first terminal", "second terminal"
ACTIVATED = "~/switchroom-venv/bin/activate"
_PARTS = re.compile(
    r"^(?P<marks>##+) (?P<heading>[^\n]+)$"
    r'|^```(?P<language>\w+)(?: title="(?P<title>[^"]*)")?\n(?P<text>.*?)^```$',
    re.MULTILINE | re.DOTALL,
)


class Block(Struct, frozen=True):
    """One block of code: its step, and its choice, empty if all readers run it."""

    step: str
    choice: str
    language: str
    title: str
    text: str


def blocks() -> list[Block]:
    """Return the blocks of the tutorial in order."""
    return blocks_of(PAGE)


def blocks_of(page: Path) -> list[Block]:
    """Return the blocks of a page in order."""
    found, step, choice = [], "", ""
    for part in _PARTS.finditer(page.read_text()):
        if part["marks"]:
            is_choice = part["marks"] == "###"
            step, choice = (step, part["heading"]) if is_choice else (part["heading"], "")
        else:
            found.append(Block(step, choice, part["language"], part["title"] or "", part["text"]))
    return found


def choices() -> list[str]:
    """Return the names of the choices, in the order of the page."""
    return list(dict.fromkeys(each.choice for each in blocks() if each.choice))


class Reader:
    """Runs blocks in a folder, with other addresses than those of the page."""

    def __init__(
        self, folder: Path, replaced: Mapping[str, str], environment: Mapping[str, str]
    ) -> None:
        self._folder = folder
        self._replaced = {"~/my-ivr": str(folder), ACTIVATED: "/dev/null", **replaced}
        programs = (str(Path(sys.executable).parent), os.environ["PATH"])
        own = {"PATH": ":".join(programs), "XDG_CONFIG_HOME": str(folder / "config")}
        self._environment = {**os.environ, **environment, **own}  # without this user's profiles
        self._exports: list[str] = []

    async def run(self, block: str) -> str:
        """Run the text of a block and return what it prints; it must succeed."""
        text = self._adapted(block)
        process = await self._start("\n".join((*self._exports, text)), asyncio.subprocess.PIPE)
        printed, _ = await process.communicate()
        assert process.returncode == 0, f"{block}\n{printed.decode()}"
        self._exports += [line for line in text.splitlines() if line.startswith("export ")]
        return printed.decode()

    @asynccontextmanager
    async def programs(self, chosen: Sequence[Block]) -> AsyncIterator[None]:
        """Write the files of a choice, and keep its second terminal running."""
        async with AsyncExitStack() as stack:
            for block in chosen:
                if block.title != SECOND_TERMINAL:
                    (self._folder / block.title).write_text(self._adapted(block.text))
                    continue
                before, _, program = self._adapted(block.text).rstrip().rpartition("\n")
                process = await self._start(f"{before}\nexec {program}", None)
                stack.push_async_callback(process.wait)
                stack.callback(process.terminate)
            yield

    async def _start(self, text: str, output: int | None) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            *("bash", "-euc", text), cwd=self._folder, env=self._environment, stdout=output
        )

    def _adapted(self, text: str) -> str:
        for example, value in self._replaced.items():
            text = text.replace(example, value)
        return text
