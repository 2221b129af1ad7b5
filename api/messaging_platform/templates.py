"""Operations on the templates of the messaging platform."""

from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct

from api.messaging_platform.client import PlatformAccount, PlatformClient
from api.messaging_platform.problems import PlatformUnavailable

FIELDS = "name,language,status,category,rejected_reason"
ALL_FIELDS = f"{FIELDS},sub_category,parameter_format,components"
PAGE_ROWS, MAX_PAGES = 100, 100  # a business account has at most 6,000 templates


class CreatedTemplate(Struct, frozen=True):
    """The platform's response to the creation of a template."""

    id: str
    status: str | None = None
    category: str | None = None


class PlatformTemplate(Struct, frozen=True):
    """A template of the platform, with the requested fields."""

    id: str
    name: str = ""
    language: str = ""
    status: str | None = None
    category: str | None = None
    rejected_reason: str | None = None
    sub_category: str | None = None
    parameter_format: str | None = None
    components: list[dict[str, Any]] | None = None


class ChangeResult(Struct, frozen=True):
    """The platform's response to a change."""

    success: bool = True


class _Cursors(Struct, frozen=True):
    after: str | None = None


class _Paging(Struct, frozen=True):
    cursors: _Cursors = _Cursors()
    next: str | None = None


class _Page(Struct, frozen=True):
    data: list[PlatformTemplate]
    paging: _Paging = _Paging()


class PlatformTemplates(Struct, frozen=True):
    client: PlatformClient

    async def create(self, business: PlatformAccount, template: dict[str, Any]) -> CreatedTemplate:
        """Create a template; the platform reviews it before it may be sent."""
        path = f"{business.business_id}/message_templates"
        return await self.client.request(CreatedTemplate, business, "POST", path, body=template)

    async def read(self, business: PlatformAccount, template_id: str) -> PlatformTemplate:
        query = {"fields": FIELDS}
        return await self.client.request(
            PlatformTemplate, business, "GET", template_id, query=query
        )

    async def edit(
        self, business: PlatformAccount, template_id: str, change: dict[str, Any]
    ) -> None:
        _check(await self.client.request(ChangeResult, business, "POST", template_id, body=change))

    async def delete(self, business: PlatformAccount, name: str, template_id: str) -> None:
        """Delete a template; by name alone, those of all languages would be deleted."""
        path = f"{business.business_id}/message_templates"
        query = {"name": name, "hsm_id": template_id}
        _check(await self.client.request(ChangeResult, business, "DELETE", path, query=query))

    async def find(
        self, business: PlatformAccount, name: str, language: str
    ) -> PlatformTemplate | None:
        """Find a template by name and language; the platform also matches parts of names."""
        async for page in self.pages(business, {"name": name, "fields": ALL_FIELDS}):
            for each in page:
                if (each.name, each.language) == (name, language):
                    return each
        return None

    async def pages(
        self, business: PlatformAccount, query: dict[str, str] | None = None
    ) -> AsyncIterator[list[PlatformTemplate]]:
        """Yield all templates, page by page.

        The cursor is put into our own URL: the URL in `next` might send the token elsewhere.
        """
        path, after = f"{business.business_id}/message_templates", ""
        parameters = {"limit": str(PAGE_ROWS), "fields": FIELDS, **(query or {})}
        for _ in range(MAX_PAGES):
            cursor = {"after": after} if after else {}
            page = await self.client.request(
                _Page, business, "GET", path, query=parameters | cursor
            )
            yield page.data
            following = page.paging.cursors.after
            if page.paging.next is None or not following:
                return
            if following == after:
                break
            after = following
        raise PlatformUnavailable("the messaging platform's pages do not end", may_be_done=False)


def _check(result: ChangeResult) -> None:
    if not result.success:
        raise PlatformUnavailable(
            "the messaging platform says that it was not done", may_be_done=False
        )
