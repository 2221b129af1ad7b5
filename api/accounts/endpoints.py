"""The endpoints of phones that operators have granted to accounts.

Others that an account may have are named after it (`wire.agents.account_of_endpoint`).
"""

from sqlalchemy import BigInteger, Column, ForeignKey, Index, String, Table, delete, insert, select
from sqlalchemy.exc import IntegrityError

from api.common.errors import Conflict, NotFound
from api.db.database import Store, metadata

endpoints = Table(
    "endpoints",
    metadata,
    Column("endpoint", String(80), primary_key=True),
    Column("account_id", ForeignKey("accounts.id"), nullable=False),
    Column("created_ms", BigInteger, nullable=False),
    Index("endpoints_by_account", "account_id", "endpoint"),
)


class EndpointStore(Store):
    """An endpoint is granted to one account."""

    async def grant(self, account_id: str, endpoint: str) -> None:
        """Grant an endpoint; raises Conflict if another account has it."""
        row = {"endpoint": endpoint, "account_id": account_id, "created_ms": self._now_ms()}
        try:
            await self._database.execute(insert(endpoints).values(row))
        except IntegrityError:
            if await self.account_of(endpoint) != account_id:
                raise Conflict(f"{endpoint} is granted to another account") from None

    async def revoke(self, account_id: str, endpoint: str) -> None:
        """Revoke a grant; raises NotFound."""
        grant = (endpoints.c.endpoint == endpoint, endpoints.c.account_id == account_id)
        if not await self._database.execute(delete(endpoints).where(*grant)):
            raise NotFound(f"{endpoint} is not granted to {account_id}")

    async def account_of(self, endpoint: str) -> str | None:
        """Return the account that an endpoint is granted to; None: to none."""
        query = select(endpoints.c.account_id).where(endpoints.c.endpoint == endpoint)
        rows = await self._database.rows(query)
        return next((account for (account,) in rows), None)

    async def of_account(self, account_id: str) -> tuple[str, ...]:
        """Return the endpoints that are granted to an account, in ascending order."""
        query = (
            select(endpoints.c.endpoint)
            .where(endpoints.c.account_id == account_id)
            .order_by(endpoints.c.endpoint)
        )
        return tuple([endpoint for (endpoint,) in await self._database.rows(query)])
