"""Runs the `switchroom` command, in this process or in its own."""

import asyncio
from pathlib import Path

from cli.tree import app
from tests.contract.cli.fake_engine import TOKEN
from tests.harness.cli.forked import run_forked


async def typed(url: str, *words: str) -> int:
    """Run the command in this process, which is fast; return its exit status."""
    try:
        await asyncio.to_thread(app, [*words, "--url", url, "--token", TOKEN])
    except SystemExit as end:
        return int(end.code or 0)
    return 0


async def switchroom(folder: Path, url: str, *typed: str) -> tuple[int, str, str]:
    """Run the command in an empty folder; return its exit status and what it printed."""
    settings = {"SWITCHROOM_RPC_TOKEN": TOKEN, "COLUMNS": "100"}
    return await run_forked((*typed, "--url", url), folder, settings)
