"""A list's contacts by e-mail, through a real SMTP server."""

import asyncio
import io
import zipfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from email.message import EmailMessage
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from api.jobs.worker import Worker
from api.mail import Mail, MailNotNow
from tests.contract.api.contact_lists import BASE, a_list, contacts_in, some
from tests.contract.api.databases import sqlite_url
from tests.contract.api.hand import Hand
from tests.contract.api.rest import Rest, resting, settings_for
from tests.contract.rpc_bench import Bench
from tests.harness.mailbox import Mailbox

ADDRESS = "crm@example.com"


@asynccontextmanager
async def mailing(
    folder: Path, bench: Bench, mailbox: Mailbox, **more: Any
) -> AsyncIterator[tuple[Rest, Hand]]:
    """Run the layer before a mail server, with a clock that is moved by hand."""
    words = {"smtp_security": "none", "smtp_from": "switchroom@example.com", **more}
    settings = settings_for(
        sqlite_url(folder), bench.url, smtp_host="127.0.0.1", smtp_port=mailbox.port, **words
    )
    clock = Hand()
    async with resting(settings, bench, clock) as rest:
        account = await rest.parts.accounts.get("acme")
        await rest.parts.accounts.change(replace(account, email=ADDRESS))
        yield rest, clock


async def sent(rest: Rest, count: int) -> Any:
    """Have a list of so many contacts sent; give how that went."""
    list_id = await a_list(rest.parts, name="Sp\u00f8rsm\u00e5l")
    await contacts_in(rest.parts, list_id, *some(count))
    answer = await rest.ask("GET", f"{BASE}/{list_id}/export")
    assert answer.status_code == 200, answer.text
    assert (answer.json()["state"], answer.json()["email"]) == ("waiting", ADDRESS)
    await work(rest)
    return await how(rest, answer.json()["id"])


async def work(rest: Rest) -> None:
    """Do the next job."""
    await Worker(rest.parts.jobs, rest.parts.people.jobs, rest.parts.metrics).once()


async def how(rest: Rest, download_id: str) -> Any:
    """Tell how far it is."""
    return (await rest.ask("GET", f"{BASE}/download-requests/{download_id}")).json()


async def test_contacts_are_sent(tmp_path: Path, bench: Bench) -> None:
    """As CSV, to the account's address, from the server that is set."""
    async with Mailbox() as mailbox, mailing(tmp_path, bench, mailbox) as (rest, _):
        done = await sent(rest, 3)
    assert (done["state"], done["rows"], done["error"]) == ("done", 3, None)
    (letter,) = mailbox.letters
    assert (letter["From"], letter["To"]) == ("switchroom@example.com", ADDRESS)
    assert letter["Subject"] == "Contacts of Sp\u00f8rsm\u00e5l"
    assert letter["Message-ID"] == f"<{done['id']}@example.com>"
    (file,) = letter.iter_attachments()
    assert (file.get_content_type(), file.get_filename()) == ("text/csv", "contacts.csv")
    lines = file.get_content().splitlines()
    assert [line.split(",")[1] for line in lines] == [
        "phoneNumber", *(each["phone_number"] for each in some(3)),
    ]  # fmt: skip


async def test_a_large_file_is_packed(tmp_path: Path, bench: Bench) -> None:
    """What is too large even so is not sent, and says so."""
    async with Mailbox() as mailbox, mailing(tmp_path, bench, mailbox) as (rest, _):
        assert (await sent(rest, 16_000))["state"] == "done"
    (file,) = mailbox.letters[0].iter_attachments()
    assert file.get_filename() == "contacts.csv.zip"
    with zipfile.ZipFile(io.BytesIO(file.get_content())) as packed:
        assert len(packed.read("contacts.csv").splitlines()) == 16_001
    (tmp_path / "two").mkdir()
    async with (
        Mailbox() as mailbox,
        mailing(tmp_path / "two", bench, mailbox, smtp_most_bytes=1_024) as (rest, _),
    ):
        done = await sent(rest, 100)
    assert (done["state"], mailbox.letters) == ("failed", [])
    assert "too large" in done["error"]


async def test_a_refusal_is_told(tmp_path: Path, bench: Bench) -> None:
    """For good where the server says so; else it is tried again, and arrives once."""
    async with Mailbox() as mailbox, mailing(tmp_path, bench, mailbox) as (rest, clock):
        mailbox.refusal = "550 no such mailbox"
        done = await sent(rest, 3)
        assert (done["state"], "550 no such mailbox" in done["error"]) == ("failed", True)
        mailbox.refusal = "451 try later"
        later = await sent(rest, 3)
        assert (later["state"], "451 try later" in later["error"]) == ("waiting", True)
        mailbox.refusal = ""
        clock.now += 60_000
        await work(rest)
        later = await how(rest, later["id"])
    assert (later["state"], later["error"], len(mailbox.letters)) == ("done", None, 1)


async def test_a_server_that_is_away_is_tried_again(tmp_path: Path, bench: Bench) -> None:
    """Five times; then it has failed, and says why."""
    async with Mailbox() as mailbox, mailing(tmp_path, bench, mailbox) as (rest, clock):
        await mailbox.__aexit__()
        done = await sent(rest, 3)
        assert done["state"] == "waiting"
        for _ in range(4):
            clock.now += 60_000
            await work(rest)
        done = await how(rest, done["id"])
    assert (done["state"], done["error"]) == ("failed", "the mail server can't be reached")


async def test_who_may_use_the_server(tmp_path: Path, bench: Bench) -> None:
    """User and password are given to it; a wrong one is told without what it was."""
    who = {"smtp_user": "switchroom", "smtp_password": "right"}
    async with Mailbox("right") as mailbox, mailing(tmp_path, bench, mailbox, **who) as (rest, _):
        assert (await sent(rest, 1))["state"] == "done"
    (tmp_path / "two").mkdir()
    who["smtp_password"] = "wrong"  # noqa: S105 - to be refused
    async with (
        Mailbox("right") as mailbox,
        mailing(tmp_path / "two", bench, mailbox, **who) as (rest, _),
    ):
        done = await sent(rest, 1)
    assert (done["state"], done["error"]) == ("failed", "the mail server does not let us in")


async def test_without_server_or_address_nothing_is_begun(
    rest: Rest, tmp_path: Path, bench: Bench
) -> None:
    """503 and 409, which say what is missing."""
    list_id = await a_list(rest.parts)
    assert (await rest.refused("GET", f"{BASE}/{list_id}/export"))[:2] == (503, "no_mail_server")
    (tmp_path / "two").mkdir()
    async with Mailbox() as mailbox, mailing(tmp_path / "two", bench, mailbox) as (found, _):
        account = await found.parts.accounts.get("acme")
        await found.parts.accounts.change(replace(account, email=None))
        list_id = await a_list(found.parts)
        told = await found.refused("GET", f"{BASE}/{list_id}/export")
        assert told[:2] == (409, "no_email")
        assert (await found.refused("GET", f"{BASE}/999/export"))[0] == 404


async def test_a_server_that_never_ends_what_it_says_is_left() -> None:
    """Each of its lines is in time; other jobs wait for it no longer than for any."""

    async def drip(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while not writer.is_closing():
                writer.write(b"220-wait\r\n")
                await writer.drain()
                await asyncio.sleep(0.01)  # its pace: it is what is tested
        writer.close()
        left.set()

    left = asyncio.Event()

    async with await asyncio.start_server(drip, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        mail = Mail("127.0.0.1", port, "none", "", "", "switchroom@example.com", 1_024, 0.2)
        with pytest.raises(MailNotNow, match="too slow"):
            await mail.send(EmailMessage())
        async with asyncio.timeout(5):
            await left.wait()
