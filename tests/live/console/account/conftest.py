"""Fixtures of the tests of an account's pages."""

import pytest

from tests.harness.console.people import Person, add_owner
from tests.harness.servers.api import Api


@pytest.fixture
async def owner(api: Api) -> Person:
    """Return an owner of the account."""
    return await add_owner(api)


@pytest.fixture
async def other(api: Api) -> Person:
    """Return an owner of another account."""
    return await add_owner(api, other=True)
