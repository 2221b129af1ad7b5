"""Runs docker compose in the repository, where a Docker engine with compose is available."""

import asyncio
from asyncio.subprocess import DEVNULL
from pathlib import Path

ROOT = Path(__file__).parents[3]


async def is_available() -> bool:
    """Return whether a Docker engine and its compose plugin answer."""
    return await _succeeds("docker", "compose", "version") and await _succeeds("docker", "info")


async def run(*arguments: str) -> None:
    """Run `docker compose …` in the repository; raises RuntimeError if it fails."""
    process = await asyncio.create_subprocess_exec("docker", "compose", *arguments, cwd=ROOT)
    if await process.wait() != 0:
        raise RuntimeError(f"`docker compose {' '.join(arguments)}` failed")


async def _succeeds(*argv: str) -> bool:
    try:
        process = await asyncio.create_subprocess_exec(*argv, stdout=DEVNULL, stderr=DEVNULL)
    except FileNotFoundError:
        return False
    return await process.wait() == 0
