"""Runs the `switchroom` command in a process of its own, forked from one that has imported it.

Importing the command takes a second of CPU, which a hundred tests would spend again and again.
"""

import asyncio
import multiprocessing
import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

_PRELOADED = ["cli.main", "cli.commands.account", "cli.database.backup", "cli.programs.api"]


class Ended(NamedTuple):
    """The exit status of a command and what it printed."""

    status: int
    out: str
    err: str


async def run_forked(words: Sequence[str], folder: Path, settings: Mapping[str, str]) -> Ended:
    """Run the command in a folder, with settings added to the environment."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_PRELOADED)
    with TemporaryDirectory() as printed:
        out, err = Path(printed) / "out", Path(printed) / "err"
        command = context.Process(
            target=_run, args=(tuple(words), folder, {**os.environ, **settings}, out, err)
        )
        command.start()
        await asyncio.to_thread(command.join)
        return Ended(command.exitcode or 0, out.read_text(), err.read_text())


def _run(words: tuple[str, ...], folder: Path, env: dict[str, str], out: Path, err: Path) -> None:
    """Become the command: its folder, environment, arguments and standard files."""
    for number, path in ((1, out), (2, err)):
        os.dup2(os.open(path, os.O_WRONLY | os.O_CREAT), number)
    os.chdir(folder)
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["switchroom", *words]
    from cli.main import main  # noqa: PLC0415 - as a process of its own would

    main()
