"""Synchronizes statuses: compares all templates of a business account with the stored ones."""

import asyncio
from collections.abc import Iterator, Sequence

from msgspec import Struct

from api.common.clock import Clock
from api.messaging_platform.problems import PlatformUnavailable
from api.messaging_platform.templates import PlatformTemplate, PlatformTemplates
from api.templates.schemas import SyncResult
from api.templates.statuses import LocalTemplate, Status, StatusStore

MAX_DURATION_S = 90.0


class StatusSync(Struct, frozen=True):
    """Requests statuses and stores changes page by page; an error keeps the earlier pages."""

    statuses: StatusStore
    platform: PlatformTemplates
    now_ms: Clock
    max_duration_s: float = MAX_DURATION_S

    async def sync(self, account_id: str) -> SyncResult:
        """Update the statuses of an account's templates; raises PlatformUnavailable."""
        business = self.platform.client.business(account_id)
        local, seen, updated, unknown = await self._local(account_id), set[str](), 0, 0
        requested_ms = self.now_ms()
        try:
            async with asyncio.timeout(self.max_duration_s):
                async for page in self.platform.pages(business):
                    matches = [(template, each) for each in page if (template := local.match(each))]
                    updated += await self.statuses.apply_statuses(
                        list(_changed(matches)), requested_ms
                    )
                    seen |= {template.id for template, _ in matches}
                    unknown += len(page) - len(matches)
                    requested_ms = self.now_ms()
        except TimeoutError:
            limit = f"{self.max_duration_s:.0f} s"
            text = f"the messaging platform took longer than {limit} for all templates"
            raise PlatformUnavailable(text, may_be_done=True) from None
        missing = tuple(sorted(local.ids - seen))
        return SyncResult(len(local.ids), updated, missing, unknown)

    async def _local(self, account_id: str) -> "LocalTemplates":
        return LocalTemplates(await self.statuses.local_templates(account_id))


class LocalTemplates:
    """An account's stored templates, indexed by the platform's ids and by name."""

    def __init__(self, templates: Sequence[LocalTemplate]) -> None:
        self.ids = frozenset(each.id for each in templates)
        self._by_id = {each.platform_template_id: each for each in templates}
        self._by_name = {
            (each.name, each.language): each
            for each in templates
            if each.platform_template_id is None
        }

    def match(self, remote: PlatformTemplate) -> LocalTemplate | None:
        """Return the template of the same id, or a pending one of the same name and language."""
        return self._by_id.get(remote.id) or self._by_name.get((remote.name, remote.language))


def _changed(matches: Sequence[tuple[LocalTemplate, PlatformTemplate]]) -> Iterator[Status]:
    for local, remote in matches:
        current = (remote.id, remote.status, remote.rejected_reason)
        if current != (local.platform_template_id, local.status, local.status_reason):
            yield Status(local.id, *current)
