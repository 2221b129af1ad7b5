"""Stores the platform's statuses of templates, from synchronization and from webhooks.

The newest status wins: a synchronization and a webhook are ordered by our clock, two webhooks by
the platform's.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct

from api.db.database import Store
from api.templates.tables import templates


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
