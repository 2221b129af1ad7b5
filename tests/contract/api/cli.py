"""Runs the administrator's commands on a database in a folder."""

import asyncio
import os
import sys
from pathlib import Path

from tests.contract.api.databases import sqlite_url


async def switchroom(folder: Path, *words: str, **settings: str) -> tuple[int | None, str]:
    """Run a command; return its exit status and its output."""
    env = {**os.environ, "SWITCHROOM_DATABASE_URL": sqlite_url(folder), **settings}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "engine", *words),
        env=env,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    said, _ = await process.communicate()
    return process.returncode, said.decode()
