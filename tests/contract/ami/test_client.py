"""The manager client: responses and failures."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.ami.client import AmiUnavailable, open_ami
from tests.harness.ami.scripted_manager import Manager


@pytest.fixture
async def manager() -> AsyncIterator[tuple[Manager, str]]:
    """Serve a manager interface."""
    manager = Manager()
    app = web.Application()
    app.router.add_post("/arawman", manager.answer)
    async with TestServer(app) as server:
        yield manager, str(server.make_url("")).rstrip("/")


async def test_an_action_and_its_response(manager: tuple[Manager, str]) -> None:
    """The fields of an action are sent as a form; the response has fields by name."""
    served, url = manager
    async with open_ami(url, "user", "secret") as ami:
        answer = await ami.ask("MixMonitor", {"Channel": "1.7", "File": "a b&c=d.raw"})
    assert served.forms == [{"action": "MixMonitor", "Channel": "1.7", "File": "a b&c=d.raw"}]
    assert (answer.is_ok, answer.fields["MixMonitorID"]) == (True, "0x7f")


@pytest.mark.parametrize("status", [401, 403, 500, 0])
async def test_without_an_answer_it_is_away(manager: tuple[Manager, str], status: int) -> None:
    """A failed action is not sent again, because it may have been executed."""
    served, url = manager
    served.status = status
    async with open_ami(url, "user", "secret") as ami:
        with pytest.raises(AmiUnavailable):
            await ami.ask("MixMonitor", {})
    assert len(served.forms) <= 1


async def test_a_pbx_that_is_not_there_is_away() -> None:
    """A refused connection raises AmiUnavailable."""
    async with open_ami("http://127.0.0.1:1", "user", "secret") as ami:
        with pytest.raises(AmiUnavailable):
            await ami.ask("Ping", {})
