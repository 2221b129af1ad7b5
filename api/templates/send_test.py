"""A template sent as a test: filled in, and handed to the messaging platform."""

from msgspec import Struct

from api.common.errors import NotFound
from api.messaging_platform.messages import PlatformMessages
from api.numbers.phone import international
from api.numbers.store import NumberStore
from api.templates.component_parser import component_of
from api.templates.placeholders import Format
from api.templates.rendering import render
from api.templates.schemas import TestSendBody, TestSendResult
from api.templates.service import active_number
from api.templates.store import Template, TemplateStore
from wire.errors import BadInput


class TestSender(Struct, frozen=True):
    """Sends test messages."""

    templates: TemplateStore
    numbers: NumberStore
    platform: PlatformMessages

    async def send(self, account_id: str, asked: TestSendBody) -> TestSendResult:
        """Send one message; not twice by itself, as nobody knows whether it went."""
        template = await self._template(account_id, asked.template_id)
        phone = international(asked.phone_number, "phoneNumber")
        parts = _filled(template, asked)
        sender = asked.sender_phone_number_id or template.phone_number_id
        path = "senderPhoneNumberId" if asked.sender_phone_number_id else "templateId"
        business = self.platform.client.business(account_id)
        await active_number(self.numbers, account_id, sender, path)
        wish = {"name": template.name, "language": {"code": template.language}}
        message = {**wish, "components": parts} if parts else wish
        sent = await self.platform.send(business, sender, phone, message)
        return TestSendResult(sent.id, sent.message_status, phone)

    async def _template(self, account_id: str, template_id: str) -> Template:
        try:
            return await self.templates.get(account_id, template_id)
        except NotFound as error:
            raise BadInput("templateId", error.detail, "unknown_template") from None


def _filled(template: Template, asked: TestSendBody) -> list[dict[str, object]]:
    style: Format = "NAMED" if template.parameter_format == "NAMED" else "POSITIONAL"
    try:
        components = [component_of(each, "templateId") for each in template.components]
    except BadInput as fault:
        text = f"a component of this template can't be sent as a test: {fault.message}"
        raise BadInput("templateId", text, "not_testable") from None
    return render(components, style, asked.variable_values)
