"""Two real processes of the REST layer over one database: one is killed, the other goes on."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from tests.contract.api.serving import NOWHERE
from tests.harness.records_api import RecordsApi


@asynccontextmanager
async def heirs(
    folder: Path, database_url: str, settings: Mapping[str, str] | None = None
) -> AsyncIterator[list[RecordsApi]]:
    """Name them; a test starts them, and has one key for both."""
    found = [
        RecordsApi(
            folder / name,
            database_url=database_url,
            engine_url=NOWHERE,
            rpc_token="none",  # noqa: S106 - there is no engine
            settings=settings,
        )
        for name in ("api1", "api2")
    ]
    found[1].api_key = found[0].api_key
    try:
        yield found
    finally:
        for api in found:
            await api.stop()
