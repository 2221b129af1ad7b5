"""Stores the platform's statuses of templates, from synchronization and from webhooks.

The newest status wins: a synchronization and a webhook are ordered by our clock, two webhooks by
the platform's.
"""

import asyncio
from collections.abc import Iterator, Sequence

import sqlalchemy as sa
from msgspec import Struct

from api.common.clock import Clock
from api.db.database import Store
from api.messaging_platform.problems import PlatformUnavailable
from api.messaging_platform.templates import PlatformTemplate, PlatformTemplates
from api.templates.schemas import SyncResult
from api.templates.store import templates

MAX_DURATION_S = 90.0


class LocalTemplate(Struct, frozen=True):
    """The part of a stored template that concerns its status."""

    id: str
    name: str
    language: str
    platform_template_id: str | None
    status: str | None
    status_reason: str | None


class Status(Struct, frozen=True):
    """A new status of a stored template."""

    id: str
    platform_template_id: str
    status: str | None
    reason: str | None


class StatusUpdate(Struct, frozen=True):
    """A status that the platform reports by webhook, with its time."""

    platform_template_id: str
    name: str
    language: str
    status: str
    reason: str | None
    at_s: int


class StatusStore(Store):
    async def local_templates(self, account_id: str) -> list[LocalTemplate]:
        columns = (templates.c[name] for name in LocalTemplate.__struct_fields__)
        query = sa.select(*columns).where(templates.c.account_id == account_id)
        return [LocalTemplate(*row) for row in await self._database.rows(query)]

    async def apply_statuses(self, statuses: Sequence[Status], requested_ms: int) -> int:
        """Apply statuses, except to templates updated since the request; return how many."""
        updated = 0
        async with self._database.writing() as connection:
            for each in statuses:
                ours = sa.and_(templates.c.id == each.id, templates.c.status_ms <= requested_ms)
                change = sa.update(templates).where(ours).values(self._values(each))
                updated += (await connection.execute(change)).rowcount
        return updated

    async def apply_update(self, account_id: str, update: StatusUpdate) -> bool:
        """Apply a webhook's status; False if there is no such template, or its status is newer."""
        same_name = sa.and_(
            templates.c.platform_template_id.is_(None),
            templates.c.name == update.name,
            templates.c.language == update.language,
        )
        ours = sa.and_(
            templates.c.account_id == account_id,
            templates.c.status_s <= update.at_s,
            sa.or_(templates.c.platform_template_id == update.platform_template_id, same_name),
        )
        status = Status("", update.platform_template_id, update.status, update.reason)
        values = {**self._values(status), "status_s": update.at_s}
        async with self._database.writing() as connection:
            return bool(
                (await connection.execute(sa.update(templates).where(ours).values(values))).rowcount
            )

    def _values(self, status: Status) -> dict[str, object]:
        now_ms = self._now_ms()
        return {
            "platform_template_id": status.platform_template_id,
            "status": status.status,
            "status_reason": status.reason,
            "status_ms": now_ms,
            "updated_ms": now_ms,
        }


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
