"""Operations on templates, here and on the messaging platform alike.

A template is stored before it is created on the platform, so that nothing is lost if the platform's
response is: the next attempt, a status synchronization or a webhook settles its state.
"""

from contextlib import suppress
from typing import Self

import structlog
from msgspec import Struct

from api.accounts.usage import UsageStore
from api.common.errors import ApiError, Conflict, NotFound, TooManyRequests
from api.common.token_buckets import Rate, TokenBuckets
from api.db.row_quota import RowQuota
from api.http.paging import Page
from api.http.services import CommonServices
from api.messaging_platform.client import PlatformAccount, PlatformClient
from api.messaging_platform.messages import PlatformMessages
from api.messaging_platform.problems import EXISTS, MISSING, PlatformRejected, PlatformUnavailable
from api.messaging_platform.templates import PlatformTemplate, PlatformTemplates
from api.numbers.schemas import DeletionResult
from api.numbers.service import international
from api.numbers.store import Number, NumberStore
from api.templates import input_mapping
from api.templates.components.model import Format
from api.templates.components.parser import parse_component
from api.templates.components.rendering import render
from api.templates.media import Media
from api.templates.schemas import (
    NewTemplate,
    TemplateChange,
    TemplateListQuery,
    TemplatePage,
    TemplateView,
    TestMessageRequest,
    TestMessageResult,
    template_view,
)
from api.templates.statuses import StatusStore, StatusSync
from api.templates.store import Template, TemplateFilters, TemplateStore, template_limit
from api.templates.webhook import LARGE_BODIES, Webhook
from base.fair_slots import FairSlots
from wire.decoding.errors import BadInput

log = structlog.get_logger()


class TemplateService(Struct, frozen=True):
    templates: TemplateStore
    numbers: NumberStore
    platform: PlatformTemplates
    quota: RowQuota

    async def create(self, account_id: str, body: NewTemplate) -> TemplateView:
        """Create a template on the platform, or link one that it has already."""
        is_link = body.platform_template_id is not None
        to_columns = input_mapping.link_columns if is_link else input_mapping.draft_columns
        columns = to_columns(body)
        business = self.platform.client.business(account_id)
        await active_number(self.numbers, account_id, body.phone_number_id, "phoneNumberId")
        await self.quota.check(account_id)
        if is_link:
            return template_view(await self._link(account_id, business, columns))
        template, is_retry = await self.templates.begin(account_id, columns)
        return template_view(await self._create(business, template, columns, is_retry=is_retry))

    async def list(self, account_id: str, query: TemplateListQuery) -> TemplatePage:
        filters = TemplateFilters(query.name, query.category, query.status, query.phone_number_id)
        page = Page(query.limit, query.offset)
        rows, total = await self.templates.page(account_id, filters, page)
        return TemplatePage(tuple(map(template_view, rows)), total, page.limit, page.offset)

    async def get(self, account_id: str, template_id: str) -> TemplateView:
        return template_view(await self.templates.get(account_id, template_id))

    async def change(self, account_id: str, template_id: str, body: TemplateChange) -> TemplateView:
        """Change a template; a change of its content is made on the platform, too."""
        template = await self.templates.get(account_id, template_id)
        columns = input_mapping.changed_columns(template, body)
        if phone := columns.get("phone_number_id"):
            await active_number(self.numbers, account_id, phone, "phoneNumberId")
        if not input_mapping.CONTENT & columns.keys():
            return template_view(await self.templates.change(account_id, template_id, columns))
        business = self.platform.client.business(account_id)
        if template.platform_template_id is None:
            text = "the platform has not answered for this template: sync its status first"
            raise Conflict(text, "not_on_platform")
        content = {name: each for name, each in columns.items() if name in input_mapping.CONTENT}
        await self.platform.edit(business, template.platform_template_id, content)
        status = await self._status(business, template.platform_template_id)
        return template_view(
            await self.templates.change(account_id, template_id, {**columns, **status})
        )

    async def delete(self, account_id: str, template_id: str) -> DeletionResult:
        """Delete a template, on the platform and here."""
        template = await self.templates.get(account_id, template_id)
        business = self.platform.client.business(account_id)
        platform_id = template.platform_template_id
        if platform_id is None:  # it may exist: the response to its creation was lost
            remote = await self.platform.find(business, template.name, template.language)
            platform_id = remote.id if remote else None
        if platform_id is not None:
            await self._delete_on_platform(business, template.name, platform_id)
        await self.templates.delete(account_id, template_id)
        return DeletionResult(template_id)

    async def _create(
        self,
        business: PlatformAccount,
        template: Template,
        columns: input_mapping.Columns,
        *,
        is_retry: bool,
    ) -> Template:
        try:
            response = await self.platform.create(business, input_mapping.to_platform(columns))
        except ApiError as error:
            if is_retry and isinstance(error, PlatformRejected) and error.subcode == EXISTS:
                return await self._adopt(business, template, error)
            if not (isinstance(error, PlatformUnavailable) and error.may_be_done):
                await self.templates.delete(template.account_id, template.id)
            raise
        created = {
            "platform_template_id": response.id,
            "status": response.status,
            "category": response.category or template.category,
        }
        return await self.templates.change(template.account_id, template.id, created)

    async def _adopt(
        self, business: PlatformAccount, template: Template, error: PlatformRejected
    ) -> Template:
        """Link the template that an earlier attempt created without our seeing the response."""
        remote = await self.platform.find(business, template.name, template.language)
        if remote is None:
            raise error
        columns = _platform_columns(remote, template.components)
        return await self.templates.change(template.account_id, template.id, columns)

    async def _link(
        self, account_id: str, business: PlatformAccount, columns: input_mapping.Columns
    ) -> Template:
        template_id = columns["platform_template_id"]
        remote = await self.platform.find(business, columns["name"], columns["language"])
        if remote is None or remote.id != template_id:
            text = "the business account has no template of this id, name and language"
            raise BadInput("platformTemplateId", text, "unknown_template")
        current = _platform_columns(remote, columns["components"])
        template, is_retry = await self.templates.begin(account_id, {**columns, **current})
        if is_retry:
            return await self.templates.change(account_id, template.id, current)
        return template

    async def _delete_on_platform(
        self, business: PlatformAccount, name: str, platform_id: str
    ) -> None:
        try:
            await self.platform.delete(business, name, platform_id)
        except PlatformRejected as error:
            if error.subcode != MISSING:
                raise

    async def _status(self, business: PlatformAccount, platform_id: str) -> dict[str, str | None]:
        """Read the status after a change; the change stands if this fails."""
        try:
            remote = await self.platform.read(business, platform_id)
        except ApiError as error:
            log.warning("template status unknown", template=platform_id, reason=error.detail)
            return {}
        return {"status": remote.status, "status_reason": remote.rejected_reason}


async def active_number(numbers: NumberStore, account_id: str, phone: str, path: str) -> Number:
    """Return the account's number with an id of the platform; raises BadInput."""
    try:
        number = await numbers.get_by_phone_number_id(account_id, phone)
    except NotFound:
        raise BadInput(path, "no number record has this phoneNumberId", "unknown_number") from None
    if not number.is_active:
        raise BadInput(path, "the number record of this phoneNumberId is not active", "inactive")
    return number


def _platform_columns(
    remote: PlatformTemplate, components: list[dict[str, object]]
) -> input_mapping.Columns:
    """Map the platform's template to columns; the platform's values win."""
    columns = {
        "platform_template_id": remote.id,
        "components": remote.components or components,
        "status": remote.status,
        "status_reason": remote.rejected_reason,
        "category": remote.category,
        "sub_category": remote.sub_category,
        "parameter_format": remote.parameter_format,
    }
    return {name: each for name, each in columns.items() if each is not None}


class TestSender(Struct, frozen=True):
    """Renders a template, and sends it by the messaging platform."""

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


class TemplateSlice(Struct, frozen=True):
    """The services of the slice."""

    templates: TemplateService
    test_sender: TestSender
    media: Media
    sync: StatusSync
    webhook: Webhook
    large_bodies: FairSlots  # of notifications, by network

    @classmethod
    def build(cls, common: CommonServices, client: PlatformClient) -> Self:
        database, now_ms, settings = common.database, common.now_ms, common.settings
        templates, numbers = TemplateStore(database, now_ms), NumberStore(database, now_ms)
        statuses, messages = StatusStore(database, now_ms), PlatformMessages(client)
        platform = PlatformTemplates(client)
        limit = template_limit(settings.max_documents)
        test_sends = Rate(settings.test_sends_per_min / 60, settings.test_sends_per_min)
        return cls(
            templates=TemplateService(
                templates, numbers, platform, RowQuota(database, now_ms, limit, interval_ms=0)
            ),
            test_sender=TestSender(
                templates,
                numbers,
                messages,
                TokenBuckets(test_sends, now_ms),
                UsageStore(database, now_ms),
            ),
            media=Media(messages),
            sync=StatusSync(statuses, platform, now_ms),
            webhook=Webhook(statuses, client),
            large_bodies=FairSlots(LARGE_BODIES, of_account=1),
        )
