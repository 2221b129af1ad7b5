"""Sends an export by e-mail: attached as it is, or zipped if it is large."""

import asyncio
import zipfile
from collections.abc import AsyncIterator
from email.message import EmailMessage
from email.utils import formatdate
from pathlib import Path
from tempfile import TemporaryDirectory

from msgspec import Struct

from api.common.mail import MailRejected, MailServer, MailUnavailable
from api.jobs.worker import PermanentFailure, RetryableFailure

MAX_PLAIN_BYTES = 1_000_000  # a larger file is zipped
FILE_NAME = "contacts.csv"


class ExportMailer(Struct, frozen=True):
    mail: MailServer

    async def send(
        self, job_id: str, list_name: str, address: str, content: AsyncIterator[bytes]
    ) -> None:
        """Send a file; a retry has the same Message-ID.

        Raises PermanentFailure or RetryableFailure.
        """
        with TemporaryDirectory(prefix="switchroom-") as folder:
            path = Path(folder) / FILE_NAME
            with path.open("wb") as file:
                async for body in content:
                    await asyncio.to_thread(file.write, body)
            message = await asyncio.to_thread(self._message, job_id, list_name, address, path)
        try:
            await self.mail.send(message)
        except MailRejected as error:
            raise PermanentFailure(str(error)) from None
        except MailUnavailable as error:
            raise RetryableFailure(str(error)) from None

    def _message(self, job_id: str, list_name: str, address: str, path: Path) -> EmailMessage:
        name = " ".join(list_name.split())
        message = EmailMessage()
        message["From"], message["To"] = self.mail.sender, address
        message["Subject"] = f"Contacts of {name}"
        message["Date"] = formatdate()
        message["Message-ID"] = f"<{job_id}@{self.mail.sender.rpartition('@')[2]}>"
        message.set_content(f"Attached are the contacts of the list {name}.\n")
        self._attach(message, path)
        return message

    def _attach(self, message: EmailMessage, path: Path) -> None:
        is_large = path.stat().st_size > MAX_PLAIN_BYTES
        attachment = _zipped(path) if is_large else path
        if attachment.stat().st_size > self.mail.max_bytes:
            raise PermanentFailure("the file is too large for an e-mail: ask for a download")
        kind = ("application", "zip") if is_large else ("text", "csv")
        message.add_attachment(attachment.read_bytes(), *kind, filename=attachment.name)


def _zipped(path: Path) -> Path:
    archive_path = path.with_suffix(".csv.zip")
    with zipfile.ZipFile(archive_path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(path, FILE_NAME)
    return archive_path
