"""The numbers of an account, in the database."""

import pytest
from sqlalchemy import insert

from api.accounts.store import Account, AccountStore, numbers
from api.common.clock import now_ms
from api.common.errors import Conflict
from api.db.database import Database
from wire.dial_policy import MAX_CALLER_IDS


async def test_an_account_has_no_more_numbers_than_engines_accept(database: Database) -> None:
    """Engines refuse the dial policy of an account with more."""
    store = AccountStore(database, now_ms)
    await store.add(Account("acme", "Acme"))
    rows = [
        {"number": f"+479{each:07}", "account_id": "acme", "created_ms": 1}
        for each in range(MAX_CALLER_IDS - 1)
    ]
    for start in range(0, len(rows), 2_000):
        await database.execute(insert(numbers).values(rows[start : start + 2_000]))
    await store.add_number("acme", "+4721930000")
    await store.add_number("acme", "+4721930000")  # it is there already
    with pytest.raises(Conflict, match="acme has 10,000 numbers"):
        await store.add_number("acme", "+4721930001")


async def test_the_region_of_an_account(database: Database) -> None:
    """Its own, or else that of its first number that has a country."""
    store = AccountStore(database, now_ms)
    await store.add(Account("acme", "Acme"))
    assert await store.region("acme") is None
    for number in ("+80012345678", "+4721930000", "+46840012345"):
        await store.add_number("acme", number)
    assert await store.region("acme") == "NO"
    await store.change(Account("acme", "Acme", region="SE"))
    assert await store.region("acme") == "SE"
