"""Messages of templates, sent by the messaging platform, and files for their headers."""

from typing import IO, Annotated, Any

from msgspec import Meta, Struct

from api.common.errors import ServiceUnavailable
from api.messaging_platform.client import PlatformClient
from api.messaging_platform.settings import BusinessAccount


class Recipient(Struct, frozen=True):
    """Who gets a message."""

    input: str = ""


class Sent(Struct, frozen=True):
    """One message, and what is known of it at once."""

    id: str
    message_status: str | None = None


class Accepted(Struct, frozen=True):
    """The platform's answer to a message."""

    messages: Annotated[list[Sent], Meta(min_length=1)]


class _Session(Struct, frozen=True):
    id: Annotated[str, Meta(pattern="^upload:[^/#]+$")]


class _Handle(Struct, frozen=True):
    h: Annotated[str, Meta(min_length=1)]


class PlatformMessages(Struct, frozen=True):
    """What can be sent."""

    client: PlatformClient

    async def send(
        self, business: BusinessAccount, sender_id: str, to: str, template: dict[str, Any]
    ) -> Sent:
        """Send a template's message."""
        body = {
            "messaging_product": self.client.settings.product,
            "recipient_type": "individual",
            "to": to,
            "type": "template",
            "template": template,
        }
        path = f"{sender_id}/messages"
        return (await self.client.ask(Accepted, business, "POST", path, body=body)).messages[0]

    async def upload(
        self, business: BusinessAccount, file: IO[bytes], size: int, kind: str, name: str
    ) -> str:
        """Upload a file; gives the handle by which a template names it."""
        app_id = self.client.settings.app_id
        if app_id is None:
            raise ServiceUnavailable(
                "no app of the messaging platform is set up for uploads", "no_app"
            )
        query = {"file_length": str(size), "file_type": kind, "file_name": name}
        path = f"{app_id}/uploads"
        session = await self.client.ask(_Session, business, "POST", path, query=query)
        return (await self.client.send_file(_Handle, business, session.id, file)).h
