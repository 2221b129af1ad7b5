"""Contact imports over HTTP: CSV with new and known contacts, a spreadsheet, and memory."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from tests.harness.api.contacts.uploads import BASE, replaced, sent_to
from tests.harness.api.databases import migrated_database, sqlite_url
from tests.harness.api.serving import NOWHERE
from tests.harness.servers.postgres import Postgres
from tests.harness.servers.records_api import RecordsApi
from tests.harness.until import until
from tools.bench.cpu import cpu_s
from tools.bench.figure import Figure, figure, percentile
from tools.bench.rest.bulk_insert import AS_DEPLOYED
from tools.bench.rest.contact_files import MAPPINGS, write_csv, write_xlsx
from tools.bench.setting import Setting

CSV_ROWS, SHEET_ROWS, QUICK = 1_000_000, 200_000, 20_000
TIMEOUT_S = 600.0


async def contacts(setting: Setting) -> list[Figure]:
    """Measure on SQLite."""
    return await _measure(setting, "contacts", sqlite_url(setting.folder))


async def contacts_postgres(setting: Setting) -> list[Figure]:
    """Measure on PostgreSQL."""
    async with Postgres(*AS_DEPLOYED) as postgres:
        return await _measure(setting, "contacts_postgres", postgres.url)


async def _measure(setting: Setting, name: str, url: str) -> list[Figure]:
    csv_rows, sheet_rows = (QUICK, QUICK) if setting.quick else (CSV_ROWS, SHEET_ROWS)
    file, sheet = setting.folder / "contacts.csv", setting.folder / "contacts.xlsx"
    changed = setting.folder / "changed.csv"
    await asyncio.to_thread(write_csv, file, csv_rows)
    await asyncio.to_thread(write_csv, changed, csv_rows, later=True)
    await asyncio.to_thread(write_xlsx, sheet, sheet_rows)
    async with migrated_database(url):
        pass
    folder = setting.folder / name
    api = RecordsApi(folder, database_url=url, engine_url=NOWHERE)
    async with api, _peaks(api.pid) as peaks:
        list_id, csv_s = await _upload(api, file)
        found = [figure(name, "csv_rows", csv_rows, "rows"), figure(name, "csv_upload", csv_s, "s")]
        found += await _process(api, f"{name}.csv", "skip", list_id, csv_rows)
        found += await _process(
            api, f"{name}.csv", "same_again", list_id, csv_rows, action="update"
        )
        await replaced(api, changed, list_id, MAPPINGS)
        found += await _process(api, f"{name}.csv", "update", list_id, csv_rows, action="update")
        found += _memory(f"{name}.csv", peaks)
        list_id, xlsx_s = await _upload(api, sheet)
        found.append(figure(name, "xlsx_rows", sheet_rows, "rows"))
        found.append(figure(name, "xlsx_upload", xlsx_s, "s"))
        found += await _process(api, f"{name}.xlsx", "skip", list_id, sheet_rows)
        found += _memory(f"{name}.xlsx", peaks)
    return found


def _memory(name: str, peaks: dict[str, int]) -> list[Figure]:
    return [figure(name, f"{who}_memory", kib / 1024, "MiB") for who, kib in peaks.items()]


async def _upload(api: RecordsApi, path: Path) -> tuple[str, float]:
    """Upload a file and map its columns; returns the list id and the seconds."""
    started_s = time.monotonic()
    with path.open("rb") as file:
        list_id = await sent_to(api, file, MAPPINGS, name=path.name, assignedFields=["city"])
    return list_id, time.monotonic() - started_s


async def _process(  # noqa: PLR0913 - the file, the action and the names of figures
    api: RecordsApi, name: str, kind: str, list_id: str, rows: int, *, action: str = "skip"
) -> list[Figure]:
    """Import the file of a list; measures its time and the latency of other requests."""
    started_s, started_cpu_s = time.monotonic(), cpu_s(api.pid)
    waits_ms: list[float] = []
    found: dict[str, Any] = {}
    await api.request("POST", f"{BASE}/process-file/{list_id}", action=action)

    async def is_done() -> bool:
        sent_s = time.perf_counter()
        found.update((await api.request("GET", f"{BASE}/contactlists/{list_id}"))[1])
        waits_ms.append((time.perf_counter() - sent_s) * 1_000)
        return bool(found["status"] != "PROCESSING")

    await until(is_done, timeout_s=TIMEOUT_S, every_s=0.1, what="the import")
    counts = found["processing"]
    assert (found["status"], counts["rows"], counts["rejected"]) == ("COMPLETED", rows, 0), found
    assert counts["added"] + counts["updated"] + counts["skipped"] == rows, counts
    return [
        figure(name, kind, time.monotonic() - started_s, "s"),
        figure(name, f"{kind}_cpu", cpu_s(api.pid) - started_cpu_s, "s"),
        figure(name, f"{kind}_asked_meanwhile_p95", percentile(waits_ms, 95), "ms"),
    ]


@asynccontextmanager
async def _peaks(pid: int) -> AsyncIterator[dict[str, int]]:
    """Track the peak memory of a process and its children, in KiB."""
    found = {"api": 0, "reader": 0, "both": 0}

    async def watching() -> None:
        while True:
            children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()  # noqa: ASYNC240 - no disk
            now = {
                "api": _resident_kib(pid),
                "reader": sum(_resident_kib(int(each)) for each in children),
            }
            now["both"] = now["api"] + now["reader"]
            for who, kib in now.items():
                found[who] = max(found[who], kib)
            await asyncio.sleep(0.1)  # memory use is sampled

    task = asyncio.create_task(watching())
    try:
        yield found
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


def _resident_kib(pid: int) -> int:
    with suppress(OSError, StopIteration):  # the process has ended
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:"))
    return 0
