"""Real API processes that are killed while they write exports, and while they send them."""

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.accounts.store import AccountStore
from api.common.clock import now_ms
from api.contacts.exports.job import PART_ROWS
from api.jobs.store import jobs
from tests.contract.api.successors import Successors, run_successors
from tests.harness.api.contacts.uploads import BASE, PHONES, sent_to
from tests.harness.api.databases import migrated_database
from tests.harness.api.leases import end_leases
from tests.harness.servers.api_process import ACCOUNT
from tests.harness.servers.records_api import RecordsApi
from tests.harness.servers.smtp import Mailbox
from tests.harness.until import MAX_WAIT_S, until

PARTS = 12
ROWS = PARTS * PART_ROWS
REQUESTS = f"{BASE}/download-requests"


@pytest.fixture
async def mailbox() -> AsyncIterator[Mailbox]:
    """Run an SMTP server."""
    async with Mailbox() as made:
        yield made


@pytest.fixture
async def apis(database_url: str, tmp_path: Path, mailbox: Mailbox) -> AsyncIterator[Successors]:
    """Start one process; others can follow, with the same database and mail server."""
    settings = {
        "SWITCHROOM_SMTP_HOST": "127.0.0.1",
        "SWITCHROOM_SMTP_PORT": str(mailbox.port),
        "SWITCHROOM_SMTP_SECURITY": "none",
        "SWITCHROOM_SMTP_FROM": "switchroom@example.com",
    }
    async with (
        migrated_database(database_url) as database,
        run_successors(tmp_path, database_url, settings) as found,
    ):
        await found.start()
        accounts = AccountStore(database, now_ms)
        account = await accounts.get(ACCOUNT)
        await accounts.change(replace(account, email="crm@example.com"))
        yield found


def numbers(count: int) -> list[str]:
    """Return phone numbers."""
    return [f"+4790{number:06}" for number in range(count)]


async def a_list(api: RecordsApi, count: int) -> str:
    """Import a list with contacts; return its id."""
    file = io.BytesIO("\n".join(["Phone", *numbers(count)]).encode())
    list_id = await sent_to(api, file, PHONES, name="Spring")
    await api.request("POST", f"{BASE}/process-file/{list_id}")
    await settled(api, f"{BASE}/contactlists/{list_id}", status="COMPLETED")
    return list_id


async def settled(api: RecordsApi, path: str, **wanted: str) -> dict[str, Any]:
    """Wait until a resource has some values; return it."""
    found: dict[str, Any] = {}

    async def is_so() -> bool:
        found.update((await api.request("GET", path))[1])
        return wanted.items() <= found.items()

    await until(is_so, timeout_s=MAX_WAIT_S, what=f"{path} {wanted}")
    return found


async def test_a_killed_download_is_completed(apis: Successors, database_url: str) -> None:
    """Another process resumes after the last part; the file has each contact once."""
    (api,) = apis.started
    list_id = await a_list(api, ROWS)
    _, download = await api.request("POST", REQUESTS, {"contactListId": list_id})
    path, found = f"{REQUESTS}/{download['id']}", dict[str, Any]()

    async def has_started() -> bool:
        found.update((await api.request("GET", path))[1])
        return bool(found["rows"])

    await until(has_started, timeout_s=30, every_s=0.001, what="the first part")
    await api.kill()
    assert (found["state"], found["rows"] < ROWS) == ("running", True)
    await end_leases(database_url, jobs)
    successor = await apis.start()
    done = await settled(successor, path, state="done")
    rows = csv.DictReader(io.StringIO(await successor.text(done["downloadPath"])))
    assert [row["phoneNumber"] for row in rows] == numbers(ROWS)
    assert done["rows"] == ROWS


async def test_a_killed_email_is_sent(
    apis: Successors, mailbox: Mailbox, database_url: str
) -> None:
    """If its process dies before the server accepts it, another process sends it once."""
    (api,) = apis.started
    list_id = await a_list(api, 3)
    mailbox.hangs = True
    _, download = await api.request("GET", f"{BASE}/{list_id}/export")
    await until(lambda: bool(mailbox.received), timeout_s=30, what="the letter")
    await api.kill()
    mailbox.hangs = False
    await end_leases(database_url, jobs)
    successor = await apis.start()
    done = await settled(successor, f"{REQUESTS}/{download['id']}", state="done")
    (message,) = mailbox.messages
    assert message["Message-ID"] == f"<{download['id']}@example.com>"
    (file,) = message.iter_attachments()
    assert len(file.get_content().splitlines()) == 1 + done["rows"] == 4
