"""What the live tests of steered calls share."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.crowd import Crowd
from tests.harness.live import Lab


@pytest.fixture
async def crowd(lab: Lab) -> AsyncIterator[Crowd]:
    """Give a call's parties, none of them there yet; the call is ended afterwards."""
    async with Crowd(lab) as crowd:
        yield crowd
        await lab.mended()
        await crowd.part()
