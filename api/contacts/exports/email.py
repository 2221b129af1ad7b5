"""A list's file as a letter: attached as it is, or packed where it is large."""

import asyncio
import zipfile
from collections.abc import AsyncIterator
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory

from api.common.mail import MailRejected, MailServer, MailUnavailable
from api.jobs.worker import PermanentFailure, RetryableFailure

PLAIN_BYTES = 1_000_000  # a larger file is packed
NAME = "contacts.csv"


class ExportMailer:
    """Writes letters, and has them sent."""

    def __init__(self, mail: MailServer) -> None:
        self._mail = mail

    async def send(
        self, job_id: str, list_name: str, address: str, content: AsyncIterator[bytes]
    ) -> None:
        """Send a file; raises Hopeless or NotThisTime. Sent again, it has the same Message-ID."""
        with TemporaryDirectory(prefix="switchroom-") as folder:
            path = Path(folder) / NAME
            with path.open("wb") as file:
                async for body in content:
                    await asyncio.to_thread(file.write, body)
            letter = await asyncio.to_thread(self._message, job_id, list_name, address, path)
        try:
            await self._mail.send(letter)
        except MailRejected as error:
            raise PermanentFailure(str(error)) from None
        except MailUnavailable as error:
            raise RetryableFailure(str(error)) from None

    def _message(self, job_id: str, list_name: str, address: str, path: Path) -> EmailMessage:
        name = " ".join(list_name.split())
        letter = EmailMessage()
        letter["From"], letter["To"] = self._mail.sender, address
        letter["Subject"] = f"Contacts of {name}"
        letter["Date"] = formatdate()
        letter["Message-ID"] = f"<{job_id}@{self._mail.sender.rpartition('@')[2]}>"
        letter.set_content(f"Attached are the contacts of the list {name}.\n")
        self._attach(letter, path)
        return letter

    def _attach(self, letter: EmailMessage, path: Path) -> None:
        is_large = path.stat().st_size > PLAIN_BYTES
        sent = _packed(path) if is_large else path
        if sent.stat().st_size > self._mail.max_bytes:
            raise PermanentFailure("the file is too large for an e-mail: ask for a download")
        kind = ("application", "zip") if is_large else ("text", "csv")
        letter.add_attachment(sent.read_bytes(), *kind, filename=sent.name)


def _packed(path: Path) -> Path:
    packed = path.with_suffix(".csv.zip")
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, NAME)
    return packed
