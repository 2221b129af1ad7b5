"""Runs the administrator's commands on a database in a folder."""

from pathlib import Path

from tests.harness.api.databases import sqlite_url
from tests.harness.cli.forked import run_forked


async def switchroom(folder: Path, *words: str, **settings: str) -> tuple[int, str]:
    """Run a command; return its exit status and its output, errors first."""
    ended = await run_forked(
        words, folder, {"SWITCHROOM_DATABASE_URL": sqlite_url(folder), **settings}
    )
    return ended.status, ended.err + ended.out
