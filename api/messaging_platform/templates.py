"""Templates on the messaging platform: made, found page by page, changed, taken away."""

from collections.abc import AsyncIterator
from typing import Any

from msgspec import Struct

from api.messaging_platform.client import PlatformClient
from api.messaging_platform.problems import PlatformUnavailable
from api.messaging_platform.settings import BusinessAccount

FIELDS = "name,language,status,category,rejected_reason"
WHOLE = f"{FIELDS},sub_category,parameter_format,components"
PAGE_ROWS, MAX_PAGES = 100, 100  # an account has 6,000 templates there at most


class CreatedTemplate(Struct, frozen=True):
    """What is told of a template that was made."""

    id: str
    status: str | None = None
    category: str | None = None


class PlatformTemplate(Struct, frozen=True):
    """A template as it is there, as far as it was asked for."""

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
    """What is told of a deed."""

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
    """What can be asked about a business account's templates."""

    client: PlatformClient

    async def create(self, business: BusinessAccount, template: dict[str, Any]) -> CreatedTemplate:
        """Make a template; the platform looks at it before it may be sent."""
        path = f"{business.business_id}/message_templates"
        return await self.client.ask(CreatedTemplate, business, "POST", path, body=template)

    async def read(self, business: BusinessAccount, template_id: str) -> PlatformTemplate:
        """Read one."""
        query = {"fields": FIELDS}
        return await self.client.ask(PlatformTemplate, business, "GET", template_id, query=query)

    async def edit(
        self, business: BusinessAccount, template_id: str, change: dict[str, Any]
    ) -> None:
        """Change one."""
        done = await self.client.ask(ChangeResult, business, "POST", template_id, body=change)
        _check(done)

    async def remove(self, business: BusinessAccount, name: str, template_id: str) -> None:
        """Take one away; by name alone, those of all languages would go."""
        path = f"{business.business_id}/message_templates"
        query = {"name": name, "hsm_id": template_id}
        _check(await self.client.ask(ChangeResult, business, "DELETE", path, query=query))

    async def find(
        self, business: BusinessAccount, name: str, language: str
    ) -> PlatformTemplate | None:
        """Find the one of a name and a language; the platform finds by parts of names, too."""
        async for page in self.pages(business, {"name": name, "fields": WHOLE}):
            for each in page:
                if (each.name, each.language) == (name, language):
                    return each
        return None

    async def pages(
        self, business: BusinessAccount, query: dict[str, str] | None = None
    ) -> AsyncIterator[list[PlatformTemplate]]:
        """Read all, page by page.

        Cursors are put into addresses of ours: a `next` that leads elsewhere would get the token.
        """
        path, after = f"{business.business_id}/message_templates", ""
        asked = {"limit": str(PAGE_ROWS), "fields": FIELDS, **(query or {})}
        for _ in range(MAX_PAGES):
            place = {"after": after} if after else {}
            page = await self.client.ask(_Page, business, "GET", path, query=asked | place)
            yield page.data
            following = page.paging.cursors.after
            if page.paging.next is None or not following:
                return
            if following == after:
                break
            after = following
        raise PlatformUnavailable("the messaging platform's pages do not end", may_be_done=False)


def _check(done: ChangeResult) -> None:
    if not done.success:
        raise PlatformUnavailable(
            "the messaging platform says that it was not done", may_be_done=False
        )
