"""A shell with the key of account acme, in front of an engine's RPC."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from tests.harness.api.databases import sqlite_url
from tests.harness.api.serving import serve_rest
from tests.harness.cli.forked import Ended, run_forked


class RestShell(Struct, frozen=True):
    """Runs commands in a folder."""

    folder: Path
    settings: Mapping[str, str]

    async def run(self, *words: str) -> Ended:
        """Run a command."""
        return await run_forked(words, self.folder, self.settings)


@asynccontextmanager
async def rest_shell(folder: Path, engine_url: str) -> AsyncIterator[RestShell]:
    """Serve the REST layer within the context."""
    async with serve_rest(sqlite_url(folder), engine_url) as served:
        settings = {"SWITCHROOM_API_URL": served.url, "SWITCHROOM_API_KEY": served.keys["acme"]}
        yield RestShell(folder, {**settings, "COLUMNS": "100"})
