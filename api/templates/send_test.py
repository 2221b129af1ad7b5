"""Sends test messages: renders a template, and sends it by the messaging platform."""

from contextlib import suppress

from msgspec import Struct

from api.accounts.usage import UsageStore
from api.common.errors import ApiError, NotFound, TooManyRequests
from api.common.token_buckets import TokenBuckets
from api.messaging_platform.messages import PlatformMessages
from api.numbers.phone import international
from api.numbers.store import NumberStore
from api.templates.components.parser import parse_component
from api.templates.components.placeholders import Format
from api.templates.components.rendering import render
from api.templates.schemas import TestMessageRequest, TestMessageResult
from api.templates.service import active_number
from api.templates.store import Template, TemplateStore
from wire.decoding.errors import BadInput


class TestSender(Struct, frozen=True):
    templates: TemplateStore
    numbers: NumberStore
    platform: PlatformMessages
    rates: TokenBuckets
    usage: UsageStore

    async def send(self, account_id: str, body: TestMessageRequest) -> TestMessageResult:
        """Send one message; never retried, as it may have been sent."""
        if not self.rates.take(account_id):
            text = "too many test messages (SWITCHROOM_TEST_SENDS_PER_MIN)"
            raise TooManyRequests(text, "test_rate", retry_after_s=60)
        template = await self._template(account_id, body.template_id)
        phone = international(body.phone_number, "phoneNumber")
        components = _rendered(template, body)
        sender = body.sender_phone_number_id or template.phone_number_id
        path = "senderPhoneNumberId" if body.sender_phone_number_id else "templateId"
        business = self.platform.client.business(account_id)
        await active_number(self.numbers, account_id, sender, path)
        message: dict[str, object] = {
            "name": template.name,
            "language": {"code": template.language},
        }
        if components:
            message["components"] = components
        sent = await self.platform.send(business, sender, phone, message)
        with suppress(ApiError):  # it is sent, whether or not the database counts it
            await self.usage.add_message(account_id)
        return TestMessageResult(sent.id, sent.message_status, phone)

    async def _template(self, account_id: str, template_id: str) -> Template:
        try:
            return await self.templates.get(account_id, template_id)
        except NotFound as error:
            raise BadInput("templateId", error.detail, "unknown_template") from None


def _rendered(template: Template, body: TestMessageRequest) -> list[dict[str, object]]:
    style: Format = "NAMED" if template.parameter_format == "NAMED" else "POSITIONAL"
    try:
        components = [parse_component(each, "templateId") for each in template.components]
    except BadInput as error:
        text = f"a component of this template can't be sent as a test: {error.message}"
        raise BadInput("templateId", text, "not_testable") from None
    return render(components, style, body.variable_values)
