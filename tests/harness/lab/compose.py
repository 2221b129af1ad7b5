"""Runs docker compose for the lab, where a Docker engine with compose is available."""

import asyncio
import os
from asyncio.subprocess import DEVNULL
from pathlib import Path

ROOT = Path(__file__).parents[3]


async def should_run() -> bool:
    """Return whether Docker runs the lab: SWITCHROOM_PBX=docker, or unset and Docker available."""
    choice = os.environ.get("SWITCHROOM_PBX")
    return choice == "docker" or (not choice and await is_available())


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
