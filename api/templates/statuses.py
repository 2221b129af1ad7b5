"""What the platform says of templates, noted as it says it: by asking, or because it told us.

Two clocks keep the newest: ours between asking and being told, the platform's among what it tells.
"""

from collections.abc import Sequence

import sqlalchemy as sa
from msgspec import Struct

from api.common.clock import Clock
from api.db.database import Database
from api.templates.tables import templates


class LocalTemplate(Struct, frozen=True):
    """A template, as far as it matters here."""

    id: str
    name: str
    language: str
    platform_template_id: str | None
    status: str | None
    status_reason: str | None


class Status(Struct, frozen=True):
    """What is to be noted of a template of ours."""

    id: str
    platform_template_id: str
    status: str | None
    reason: str | None


class StatusUpdate(Struct, frozen=True):
    """What the platform tells of a template, and when."""

    platform_template_id: str
    name: str
    language: str
    status: str
    reason: str | None
    at_s: int


class StatusStore:
    """What is kept of statuses."""

    def __init__(self, database: Database, now_ms: Clock) -> None:
        self._database = database
        self._now_ms = now_ms

    async def local_templates(self, account_id: str) -> list[LocalTemplate]:
        """List an account's templates."""
        columns = (templates.c[name] for name in LocalTemplate.__struct_fields__)
        query = sa.select(*columns).where(templates.c.account_id == account_id)
        async with self._database.reading() as connection:
            return [LocalTemplate(*row) for row in (await connection.execute(query)).all()]

    async def apply_statuses(self, found: Sequence[Status], asked_ms: int) -> int:
        """Note statuses that were asked for at a time, unless we were told since; counts them."""
        noted = 0
        async with self._database.writing() as connection:
            for each in found:
                ours = sa.and_(templates.c.id == each.id, templates.c.status_ms <= asked_ms)
                change = sa.update(templates).where(ours).values(self._values(each))
                noted += (await connection.execute(change)).rowcount
        return noted

    async def apply_update(self, account_id: str, told: StatusUpdate) -> bool:
        """Note what the platform told; False if we have no such template, or know better."""
        same_name = sa.and_(
            templates.c.platform_template_id.is_(None),
            templates.c.name == told.name,
            templates.c.language == told.language,
        )
        ours = sa.and_(
            templates.c.account_id == account_id,
            templates.c.told_s <= told.at_s,
            sa.or_(templates.c.platform_template_id == told.platform_template_id, same_name),
        )
        status = Status("", told.platform_template_id, told.status, told.reason)
        values = {**self._values(status), "told_s": told.at_s}
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
