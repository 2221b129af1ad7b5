"""Fixtures of the tests of an account's pages."""

import pytest_asyncio

from tests.harness.console.people import Person, add_owner
from tests.harness.servers.api import AccountClient


@pytest_asyncio.fixture(loop_scope="session")
async def owner(api: AccountClient) -> Person:
    """Return an owner of the account."""
    return await add_owner(api)


@pytest_asyncio.fixture(loop_scope="session")
async def other(api: AccountClient) -> Person:
    """Return an owner of another account."""
    return await add_owner(api, other=True)
