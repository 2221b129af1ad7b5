"""Templates made, shown, changed and taken away: here and on the messaging platform alike.

A template is kept before the platform is asked for it, so that nothing is lost when an answer is:
what was not answered is settled by the next try, by sync-status, or by what the platform tells.
"""

import structlog
from msgspec import Struct

from api.common.errors import ApiError, Conflict, NotFound
from api.http.paging import Page
from api.messaging_platform.problems import EXISTS, MISSING, PlatformRejected, PlatformUnavailable
from api.messaging_platform.settings import BusinessAccount
from api.messaging_platform.templates import PlatformTemplate, PlatformTemplates
from api.numbers.schemas import DeletedNumber
from api.numbers.store import Number, NumberStore
from api.templates import input_mapping
from api.templates.schemas import (
    NewTemplate,
    TemplateChange,
    TemplateListQuery,
    TemplatePage,
    TemplateView,
)
from api.templates.store import Template, TemplateFilters, TemplateStore
from api.templates.views import template_view
from wire.errors import BadInput

log = structlog.get_logger()


class TemplateService(Struct, frozen=True):
    """One method a request, each about one account."""

    templates: TemplateStore
    numbers: NumberStore
    platform: PlatformTemplates

    async def create(self, account_id: str, asked: NewTemplate) -> TemplateView:
        """Have the platform make a template; or know one that it has already."""
        link = asked.platform_template_id is not None
        columns = input_mapping.link_columns(asked) if link else input_mapping.draft_columns(asked)
        business = self.platform.client.business(account_id)
        await active_number(self.numbers, account_id, asked.phone_number_id, "phoneNumberId")
        if link:
            return template_view(await self._linked(account_id, business, columns))
        template, again = await self.templates.begin(account_id, columns)
        return template_view(await self._made(business, template, columns, again=again))

    async def list(self, account_id: str, asked: TemplateListQuery) -> TemplatePage:
        """Give a page."""
        wanted = TemplateFilters(asked.name, asked.category, asked.status, asked.phone_number_id)
        page = Page(asked.limit, asked.offset)
        found, total = await self.templates.listed(account_id, wanted, page)
        return TemplatePage(tuple(map(template_view, found)), total, page.limit, page.offset)

    async def get(self, account_id: str, template_id: str) -> TemplateView:
        """Show one."""
        return template_view(await self.templates.get(account_id, template_id))

    async def change(
        self, account_id: str, template_id: str, asked: TemplateChange
    ) -> TemplateView:
        """Change a template; on the platform, too, where its content changes."""
        template = await self.templates.get(account_id, template_id)
        columns = input_mapping.changed_columns(template, asked)
        if phone := columns.get("phone_number_id"):
            await active_number(self.numbers, account_id, phone, "phoneNumberId")
        if not input_mapping.CONTENT & columns.keys():
            return template_view(await self.templates.change(account_id, template_id, columns))
        business = self.platform.client.business(account_id)
        if template.platform_template_id is None:
            text = "the platform has not answered for this template: sync its status first"
            raise Conflict(text, "not_on_platform")
        wish = {name: each for name, each in columns.items() if name in input_mapping.CONTENT}
        await self.platform.edit(business, template.platform_template_id, wish)
        status = await self._status(business, template.platform_template_id)
        return template_view(
            await self.templates.change(account_id, template_id, {**columns, **status})
        )

    async def remove(self, account_id: str, template_id: str) -> DeletedNumber:
        """Take a template away, there and here."""
        template = await self.templates.get(account_id, template_id)
        business = self.platform.client.business(account_id)
        there = template.platform_template_id
        if there is None:  # it may be there all the same
            found = await self.platform.find(business, template.name, template.language)
            there = found.id if found else None
        if there is not None:
            await self._removed(business, template.name, there)
        await self.templates.remove(account_id, template_id)
        return DeletedNumber(template_id)

    async def _made(
        self,
        business: BusinessAccount,
        template: Template,
        columns: input_mapping.Columns,
        *,
        again: bool,
    ) -> Template:
        try:
            made = await self.platform.create(business, input_mapping.to_platform(columns))
        except ApiError as error:
            if again and isinstance(error, PlatformRejected) and error.subcode == EXISTS:
                return await self._adopted(business, template, error)
            if not (isinstance(error, PlatformUnavailable) and error.may_be_done):
                await self.templates.remove(template.account_id, template.id)
            raise
        told = {
            "platform_template_id": made.id,
            "status": made.status,
            "category": made.category or template.category,
        }
        return await self.templates.change(template.account_id, template.id, told)

    async def _adopted(
        self, business: BusinessAccount, template: Template, error: PlatformRejected
    ) -> Template:
        """Take for ours what was made when nobody heard of it."""
        found = await self.platform.find(business, template.name, template.language)
        if found is None:
            raise error
        there = _there(found, template.components)
        return await self.templates.change(template.account_id, template.id, there)

    async def _linked(
        self, account_id: str, business: BusinessAccount, columns: input_mapping.Columns
    ) -> Template:
        wanted_id = columns["platform_template_id"]
        found = await self.platform.find(business, columns["name"], columns["language"])
        if found is None or found.id != wanted_id:
            text = "the business account has no template of this id, name and language"
            raise BadInput("platformTemplateId", text, "unknown_template")
        there = _there(found, columns["components"])
        template, again = await self.templates.begin(account_id, {**columns, **there})
        if again:
            return await self.templates.change(account_id, template.id, there)
        return template

    async def _removed(self, business: BusinessAccount, name: str, platform_id: str) -> None:
        try:
            await self.platform.remove(business, name, platform_id)
        except PlatformRejected as error:
            if error.subcode != MISSING:
                raise

    async def _status(self, business: BusinessAccount, platform_id: str) -> dict[str, str | None]:
        """Ask what a change did to the status; the change stands, whatever is answered."""
        try:
            found = await self.platform.read(business, platform_id)
        except ApiError as error:
            log.warning("template's status unknown", template=platform_id, reason=error.detail)
            return {}
        return {"status": found.status, "status_reason": found.rejected_reason}


async def active_number(numbers: NumberStore, account_id: str, phone: str, path: str) -> Number:
    """Give the account's number of a platform's id; raises BadInput."""
    try:
        number = await numbers.of_phone(account_id, phone)
    except NotFound:
        raise BadInput(path, "no number record has this phoneNumberId", "unknown_number") from None
    if not number.is_active:
        raise BadInput(path, "the number record of this phoneNumberId is not active", "inactive")
    return number


def _there(found: PlatformTemplate, components: list[dict[str, object]]) -> input_mapping.Columns:
    """Give the columns of what the platform has: what is there, is true."""
    told = {
        "platform_template_id": found.id,
        "components": found.components or components,
        "status": found.status,
        "status_reason": found.rejected_reason,
        "category": found.category,
        "sub_category": found.sub_category,
        "parameter_format": found.parameter_format,
    }
    return {name: each for name, each in told.items() if each is not None}
