"""The action client: rejected addresses."""

import pytest
from aiohttp import ClientSession

from base.address_guard import guarded_session
from tests.harness.webhooks.customer import refused


async def test_a_private_address_is_refused() -> None:
    """The guard's rejection is reported, without a retry."""
    async with guarded_session() as session:
        failure = await refused(session, "http://127.0.0.1:1/next")
    assert failure.reason == "refused_address"
    assert len(failure.attempts) == 1


@pytest.mark.parametrize(
    "url", ["https://x.example:99999/", f"https://{'a' * 70}.example/", "https://x..example/"]
)
async def test_an_address_that_cannot_be(session: ClientSession, url: str) -> None:
    """An address that passes the pattern but is invalid is a failure, not an exception."""
    assert (await refused(session, url)).reason in {"bad_url", "connect"}
