"""A list's contacts by e-mail, through a real SMTP server."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.message import EmailMessage
from typing import Any

import pytest
from msgspec.structs import replace

from api.common.mail import MailServer, MailUnavailable
from api.jobs.worker import Worker
from tests.harness.api.contacts.lists import BASE, a_list, contacts_in, some
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from tests.harness.servers.smtp import Mailbox
from tests.harness.until import MAX_WAIT_S

ADDRESS = "crm@example.com"


@asynccontextmanager
async def mailing(
    database_url: str, scene: RpcScene, mailbox: Mailbox, **more: Any
) -> AsyncIterator[tuple[Rest, ManualClock]]:
    """Run the REST layer with a mail server and a clock that the test sets."""
    words = {"smtp_security": "none", "smtp_from": "switchroom@example.com", **more}
    settings = settings_for(
        database_url, scene.url, smtp_host="127.0.0.1", smtp_port=mailbox.port, **words
    )
    clock = ManualClock()
    async with run_rest(settings, scene, clock) as rest:
        account = await rest.services.accounts.get("acme")
        await rest.services.accounts.change(replace(account, email=ADDRESS))
        yield rest, clock


async def sent(rest: Rest, count: int) -> Any:
    """Send a list with contacts by e-mail; return the download."""
    list_id = await a_list(rest.services, name="Sp\u00f8rsm\u00e5l")
    await contacts_in(rest.services, list_id, *some(count))
    answer = await rest.request("GET", f"{BASE}/{list_id}/export")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["email"]) == ("waiting", ADDRESS)
    await run_job(rest)
    return await download_of(rest, answer.json()["id"])


async def run_job(rest: Rest) -> None:
    """Run the next job."""
    await Worker(rest.services.jobs, rest.services.contacts.jobs, rest.services.metrics).once()


async def download_of(rest: Rest, download_id: str) -> Any:
    """Return a download."""
    return (await rest.request("GET", f"{BASE}/download-requests/{download_id}")).json()


async def test_contacts_are_sent(database_url: str, scene: RpcScene) -> None:
    """The configured server gets them as CSV for the account's address."""
    async with Mailbox() as mailbox, mailing(database_url, scene, mailbox) as (rest, _):
        done = await sent(rest, 3)
    assert (done["state"], done["rows"], done["error"]) == ("done", 3, None)
    (message,) = mailbox.messages
    assert (message["From"], message["To"]) == ("switchroom@example.com", ADDRESS)
    assert message["Subject"] == "Contacts of Sp\u00f8rsm\u00e5l"
    assert message["Message-ID"] == f"<{done['id']}@example.com>"
    (file,) = message.iter_attachments()
    assert (file.get_content_type(), file.get_filename()) == ("text/csv", "contacts.csv")
    lines = file.get_content().splitlines()
    assert [line.split(",")[1] for line in lines] == [
        "phoneNumber", *(each["phone_number"] for each in some(3)),
    ]  # fmt: skip


async def test_a_large_file_is_zipped(database_url: str, scene: RpcScene) -> None:
    """The archive is smaller than the server's maximum."""
    async with Mailbox() as mailbox, mailing(database_url, scene, mailbox) as (rest, _):
        assert (await sent(rest, 16_000))["state"] == "done"
    (file,) = mailbox.messages[0].iter_attachments()
    assert file.get_filename() == "contacts.csv.zip"
    with zipfile.ZipFile(io.BytesIO(file.get_content())) as packed:
        assert len(packed.read("contacts.csv").splitlines()) == 16_001


async def test_a_file_above_the_maximum_is_not_sent(database_url: str, scene: RpcScene) -> None:
    """The download fails with the reason."""
    async with (
        Mailbox() as mailbox,
        mailing(database_url, scene, mailbox, smtp_max_bytes=1_024) as (rest, _),
    ):
        done = await sent(rest, 100)
    assert (done["state"], mailbox.messages) == ("failed", [])
    assert "too large" in done["error"]


async def test_a_rejection_is_reported(database_url: str, scene: RpcScene) -> None:
    """A permanent one fails; after a temporary one the e-mail is sent again and arrives once."""
    async with Mailbox() as mailbox, mailing(database_url, scene, mailbox) as (rest, clock):
        mailbox.refusal = "550 no such mailbox"
        done = await sent(rest, 3)
        assert (done["state"], "550 no such mailbox" in done["error"]) == ("failed", True)
        mailbox.refusal = "451 try later"
        later = await sent(rest, 3)
        assert (later["state"], "451 try later" in later["error"]) == ("waiting", True)
        mailbox.refusal = ""
        clock.now += 60_000
        await run_job(rest)
        later = await download_of(rest, later["id"])
    assert (later["state"], later["error"], len(mailbox.messages)) == ("done", None, 1)


async def test_an_unreachable_server_is_retried(database_url: str, scene: RpcScene) -> None:
    """After five attempts the download fails with the reason."""
    async with Mailbox() as mailbox, mailing(database_url, scene, mailbox) as (rest, clock):
        await mailbox.__aexit__()
        done = await sent(rest, 3)
        assert done["state"] == "waiting"
        for _ in range(4):
            clock.now += 60_000
            await run_job(rest)
        done = await download_of(rest, done["id"])
    assert (done["state"], done["error"]) == ("failed", "the mail server can't be reached")


@pytest.mark.parametrize(
    ("password", "outcome"),
    [("right", ("done", None)), ("wrong", ("failed", "the mail server does not let us in"))],
)
async def test_the_server_authenticates(
    database_url: str, scene: RpcScene, password: str, outcome: tuple[str, str | None]
) -> None:
    """It gets user and password, which an error does not contain."""
    credentials = {"smtp_user": "switchroom", "smtp_password": password}
    async with (
        Mailbox("right") as mailbox,
        mailing(database_url, scene, mailbox, **credentials) as (rest, _),
    ):
        done = await sent(rest, 1)
    assert (done["state"], done["error"]) == outcome


async def test_without_a_server_no_job_is_started(kept: Rest) -> None:
    """The request gets 503 with the reason."""
    list_id = await a_list(kept.services)
    assert (await kept.rejected("GET", f"{BASE}/{list_id}/export"))[:2] == (503, "no_mail_server")


async def test_without_an_address_no_job_is_started(database_url: str, scene: RpcScene) -> None:
    """The request gets 409 with the reason."""
    async with Mailbox() as mailbox, mailing(database_url, scene, mailbox) as (rest, _):
        account = await rest.services.accounts.get("acme")
        await rest.services.accounts.change(replace(account, email=None))
        list_id = await a_list(rest.services)
        result = await rest.rejected("GET", f"{BASE}/{list_id}/export")
        assert result[:2] == (409, "no_email")
        assert (await rest.rejected("GET", f"{BASE}/999/export"))[0] == 404


async def test_an_endless_response_times_out() -> None:
    """Each line arrives in time, but the total timeout ends the job."""

    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"220-wait\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)  # the pace of the server
        writer.close()
        left.set()

    left = asyncio.Event()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        mail = MailServer("127.0.0.1", port, "none", "", "", "switchroom@example.com", 1_024, 1)
        with pytest.raises(MailUnavailable, match="too slow"):
            await mail.send(EmailMessage())
        async with asyncio.timeout(MAX_WAIT_S):
            await left.wait()
