"""Statuses asked for: all templates of a business account, compared with those that we keep."""

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
    """Asks, and notes what has changed page by page: a fault on the way takes nothing back."""

    statuses: StatusStore
    platform: PlatformTemplates
    now_ms: Clock
    longest_s: float = MAX_DURATION_S

    async def sync(self, account_id: str) -> SyncResult:
        """Bring statuses up to date."""
        business = self.platform.client.business(account_id)
        ours, seen, updated, unknown = await self._ours(account_id), set[str](), 0, 0
        asked_ms = self.now_ms()
        try:
            async with asyncio.timeout(self.longest_s):
                async for page in self.platform.pages(business):
                    found = [(known, each) for each in page if (known := ours.of(each))]
                    updated += await self.statuses.apply_statuses(list(_stale(found)), asked_ms)
                    seen |= {known.id for known, _ in found}
                    unknown += len(page) - len(found)
                    asked_ms = self.now_ms()
        except TimeoutError:
            text = (
                f"the messaging platform took longer than {self.longest_s:.0f} s for all templates"
            )
            raise PlatformUnavailable(text, may_be_done=True) from None
        missing = tuple(sorted(ours.ids - seen))
        return SyncResult(len(ours.ids), updated, missing, unknown)

    async def _ours(self, account_id: str) -> "LocalTemplates":
        return LocalTemplates(await self.statuses.local_templates(account_id))


class LocalTemplates:
    """An account's templates, found as the platform names them."""

    def __init__(self, known: Sequence[LocalTemplate]) -> None:
        self.ids = frozenset(each.id for each in known)
        self._by_id = {each.platform_template_id: each for each in known}
        self._unanswered = {
            (each.name, each.language): each for each in known if each.platform_template_id is None
        }

    def of(self, there: PlatformTemplate) -> LocalTemplate | None:
        """Give ours: of the same id, or one of whose making we never heard."""
        return self._by_id.get(there.id) or self._unanswered.get((there.name, there.language))


def _stale(found: Sequence[tuple[LocalTemplate, PlatformTemplate]]) -> Iterator[Status]:
    for known, there in found:
        now = (there.id, there.status, there.rejected_reason)
        if now != (known.platform_template_id, known.status, known.status_reason):
            yield Status(known.id, *now)
