"""The manager client: responses and failures."""

from collections.abc import AsyncIterator

import pytest
from aiohttp import web
from aiohttp.test_utils import TestServer

from engine.ami.client import AmiUnavailable, open_ami


class Manager:
    """A manager interface with scripted responses."""

    def __init__(self) -> None:
        self.forms: list[dict[str, str]] = []
        self.status = 200
        self.text = "Response: Success\r\nMixMonitorID: 0x7f\r\n\r\n"

    async def answer(self, request: web.Request) -> web.Response:
        """Respond to an action."""
        if self.status == 0:
            assert request.transport is not None
            request.transport.close()
        self.forms.append({name: str(value) for name, value in (await request.post()).items()})
        return web.Response(status=self.status or 200, text=self.text)


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
