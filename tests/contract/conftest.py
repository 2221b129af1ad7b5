"""What contract tests ask for by name."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.rpc_bench import Bench, running


@pytest.fixture
async def bench(tmp_path: Path) -> AsyncIterator[Bench]:
    """Give a bench to a test."""
    async with running(tmp_path) as made:
        yield made
