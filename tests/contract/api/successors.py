"""Real processes of the REST layer on one database: one is killed, another continues."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.harness.api.serving import NOWHERE
from tests.harness.servers.records_api import RecordsApi


class Successors:
    """Starts processes with a common API key; each takes a free port when it starts."""

    def __init__(self, folder: Path, database_url: str, settings: Mapping[str, str]) -> None:
        self._folder = folder
        self._database_url = database_url
        self._settings = settings
        self.started: list[RecordsApi] = []

    async def start(self) -> RecordsApi:
        """Start another process."""
        api = RecordsApi(
            self._folder / f"api{len(self.started)}",
            database_url=self._database_url,
            engine_url=NOWHERE,
            settings=self._settings,
        )
        api.api_key = self.started[0].api_key if self.started else api.api_key
        self.started.append(api)
        await api.start()
        return api


@asynccontextmanager
async def run_successors(
    folder: Path, database_url: str, settings: Mapping[str, str] | None = None
) -> AsyncIterator[Successors]:
    """Yield a set of processes, and stop them at the end."""
    made = Successors(folder, database_url, settings or {})
    try:
        yield made
    finally:
        for api in made.started:
            await api.stop()
