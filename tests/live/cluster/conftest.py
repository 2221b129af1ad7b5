"""Fixtures of tests of several engines or nodes."""

from collections.abc import AsyncIterator

import pytest

from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.registration import register
from tests.harness.ports import free_port
from tests.live.cluster.phones_of_two_nodes import AGENT, OTHER


@pytest.fixture
async def unregistered_phones(two: TwoNodes) -> AsyncIterator[None]:
    """Unregister the phones after a test."""
    yield
    for pbx in two.nodes:
        for agent in (AGENT, OTHER):
            await register(pbx, agent, free_port(), 0)
