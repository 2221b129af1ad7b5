"""Fixtures of the gateway's contract tests: a real process between a simulated PBX and bots."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from itertools import count
from typing import Any

import pytest

from tests.harness.streams.gateway import GatewayClient, GatewayProcess
from tests.harness.streams.simulated_pbx import SimulatedChannel, SimulatedPbx
from tests.harness.streams.twilio_bot import TwilioBot

_numbers = count(1)
LOOPBACK = ["127.0.0.0/8"]


@pytest.fixture(scope="session")
def shared_gateway(tmp_path_factory: pytest.TempPathFactory) -> Iterator[GatewayProcess]:
    """Run one gateway for all tests that do not stop it."""
    gateway = GatewayProcess(tmp_path_factory.mktemp("gateway"))
    asyncio.run(gateway.start())
    yield gateway
    asyncio.run(gateway.stop())


@pytest.fixture
async def engine(shared_gateway: GatewayProcess) -> AsyncIterator[GatewayClient]:
    """Return an engine that reads the reports of the shared gateway."""
    client = GatewayClient(shared_gateway.url)
    await client.read()
    yield client
    await client.close()


@pytest.fixture
async def pbx() -> AsyncIterator[SimulatedPbx]:
    """Run a simulated PBX."""
    server = SimulatedPbx()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def bot() -> AsyncIterator[TwilioBot]:
    """Run a bot that says what its test gives it."""
    server = TwilioBot()
    await server.start()
    yield server
    await server.stop()


@pytest.fixture
async def echo_bot() -> AsyncIterator[TwilioBot]:
    """Run a bot that says what it hears."""
    server = TwilioBot(is_echo=True)
    await server.start()
    yield server
    await server.stop()


class Streams:
    """Sets streams up between a simulated PBX and a bot."""

    def __init__(self, engine: GatewayClient, pbx: SimulatedPbx) -> None:
        self._engine = engine
        self._pbx = pbx

    async def start(
        self, url: str, *, bot: dict[str, Any] | None = None, **setup: Any
    ) -> tuple[str, SimulatedChannel]:
        """Set a stream up; return its id and its channel."""
        name = f"call-{next(_numbers)}.w1"
        channel = self._pbx.add(name)
        body = self.setup(name, url, bot=bot, **setup)
        status, found = await self._engine.request("PUT", f"/streams/{name}", body)
        assert (status, found) == (201, {"stream": name})
        return name, channel

    def setup(
        self, name: str, url: str, *, bot: dict[str, Any] | None = None, **setup: Any
    ) -> dict[str, Any]:
        """Return the body that sets a stream up."""
        address = {"url": url, "protocol": "twilio", "networks": LOOPBACK, **(bot or {})}
        return {
            "mediaUrl": f"{self._pbx.url}/media/{name}", "bot": address, "account": "acme",
            "callId": "call-1", "from": "+15550001", "to": "+15550002", **setup,
        }  # fmt: skip


@pytest.fixture
def streams(engine: GatewayClient, pbx: SimulatedPbx) -> Streams:
    """Return what sets streams up."""
    return Streams(engine, pbx)
