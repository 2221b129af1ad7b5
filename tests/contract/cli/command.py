"""Runs the `switchroom` command, in this process or in its own."""

import asyncio
import os
import sys
from pathlib import Path

from engine.__main__ import app
from tests.contract.cli.fake_engine import TOKEN

ROOT = Path(__file__).parents[3]


async def typed(url: str, *words: str) -> int:
    """Run the command in this process, which is fast; return its exit status."""
    try:
        await asyncio.to_thread(app, [*words, "--url", url, "--token", TOKEN])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


async def switchroom(folder: Path, url: str, *typed: str) -> tuple[int, str, str]:
    """Run the command in an empty folder; return its exit status and what it printed."""
    env = {**os.environ, "SWITCHROOM_RPC_TOKEN": TOKEN, "PYTHONPATH": str(ROOT), "COLUMNS": "100"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine", *typed, "--url", url),
        cwd=folder,
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    out, err = await process.communicate()
    return process.returncode or 0, out.decode(), err.decode()
