"""The client of a stream gateway: how often it connects again, and what it logs of that."""

import asyncio
from itertools import pairwise

import aiohttp
import pytest
from structlog.testing import capture_logs

from engine.streams.client import GatewayClient, ReportListener
from tests.harness.virtual_time import virtual_time
from wire.streams.reports import Report


class ScriptedClient(GatewayClient):
    """A client whose connections are refused with these reasons; "": the gateway closes one."""

    def __init__(self, http: aiohttp.ClientSession, *reasons: str) -> None:
        super().__init__("http://gateway", "token", http, lambda: 1.0)
        self.tried_s: list[float] = []
        self._reasons = iter(reasons)

    async def _listen(self, listener: ReportListener) -> str:
        self.tried_s.append(asyncio.get_running_loop().time())
        if (reason := next(self._reasons, None)) is None:
            raise EOFError
        if not reason:
            listener.on_connected()
        return reason


class Log:
    """A listener that records its calls."""

    def __init__(self) -> None:
        self.words: list[str] = []

    def on_connected(self) -> None:
        self.words.append("connected")

    def on_report(self, report: Report) -> None:
        raise AssertionError(report)

    def on_disconnected(self) -> None:
        self.words.append("disconnected")


@virtual_time
async def test_tries_become_rarer() -> None:
    """The longest wait doubles up to two seconds; after a connection it is the shortest again."""
    refusals = ["refused"] * 6
    async with aiohttp.ClientSession() as http:
        client, log = ScriptedClient(http, *refusals, "", "refused"), Log()
        with pytest.raises(EOFError):
            await client.run(log)
    waits_s = [round(to_s - from_s, 3) for from_s, to_s in pairwise(client.tried_s)]
    assert waits_s == [0.2, 0.4, 0.8, 1.6, 2.0, 2.0, 0.1, 0.2]
    assert log.words == [*["disconnected"] * 6, "connected", "disconnected", "disconnected"]


@virtual_time
async def test_a_warning_names_the_gateway() -> None:
    """A node has several gateways; a reason that stays is logged once."""
    async with aiohttp.ClientSession() as http:
        with capture_logs() as logs, pytest.raises(EOFError):
            await ScriptedClient(http, "refused", "refused", "").run(Log())
    assert [(each["gateway"], each["event"]) for each in logs] == [
        ("http://gateway", "stream gateway not connected"),
        ("http://gateway", "stream gateway lost"),
    ]
