"""Sends template messages by the messaging platform, and uploads files for their headers."""

from typing import IO, Annotated, Any

from msgspec import Meta, Struct

from api.common.errors import ServiceUnavailable
from api.messaging_platform.client import PlatformAccount, PlatformClient


class Recipient(Struct, frozen=True):
    input: str = ""


class SentMessage(Struct, frozen=True):
    """A message that the platform accepted."""

    id: str
    message_status: str | None = None


class _SendResponse(Struct, frozen=True):
    """The platform's response to a message."""

    messages: Annotated[list[SentMessage], Meta(min_length=1)]


class _UploadSession(Struct, frozen=True):
    id: Annotated[str, Meta(pattern="^upload:[^/#]+$")]


class _Handle(Struct, frozen=True):
    h: Annotated[str, Meta(min_length=1)]


class PlatformMessages(Struct, frozen=True):
    client: PlatformClient

    async def send(
        self, business: PlatformAccount, sender_id: str, to: str, template: dict[str, Any]
    ) -> SentMessage:
        """Send a rendered template to a recipient."""
        body = {
            "messaging_product": self.client.settings.product,
            "recipient_type": "individual",
            "to": to,
            "type": "template",
            "template": template,
        }
        path = f"{sender_id}/messages"
        return (
            await self.client.request(_SendResponse, business, "POST", path, body=body)
        ).messages[0]

    async def upload(
        self, business: PlatformAccount, file: IO[bytes], size: int, kind: str, name: str
    ) -> str:
        """Upload a file; return the handle for a template."""
        app_id = self.client.settings.app_id
        if app_id is None:
            raise ServiceUnavailable(
                "no app of the messaging platform is set up for uploads", "no_app"
            )
        query = {"file_length": str(size), "file_type": kind, "file_name": name}
        path = f"{app_id}/uploads"
        session = await self.client.request(_UploadSession, business, "POST", path, query=query)
        return (await self.client.send_file(_Handle, business, session.id, file)).h
