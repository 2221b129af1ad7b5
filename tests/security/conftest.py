"""Fixtures: an engine's RPC and the REST layer, as in the contract ring."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.harness.api.cdrs.records import NOON_MS
from tests.harness.api.databases import sqlite_url
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.api.serving import Served, serve_rest
from tests.harness.rpc.scene import RpcScene, running


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[RpcScene]:
    """Run an engine's RPC."""
    async with running(tmp_path) as made:
        yield made


@pytest.fixture
async def rest(tmp_path: Path, scene: RpcScene) -> AsyncIterator[Rest]:
    """Provide the REST layer with an engine."""
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene) as made:
        yield made


@pytest.fixture
async def served(tmp_path: Path) -> AsyncIterator[Served]:
    """Provide the REST layer over HTTP, without an engine, at 12:05."""
    async with serve_rest(sqlite_url(tmp_path), clock=lambda: NOON_MS + 300_000) as found:
        yield found
