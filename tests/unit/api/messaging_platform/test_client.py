"""Requests to the messaging platform take turns by account."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

import aiohttp
import pytest
from msgspec import Struct

from api.common.errors import TooManyRequests
from api.messaging_platform.client import (
    CONNECTIONS_OF_ACCOUNT,
    MAX_CONNECTIONS,
    MAX_OF_ACCOUNT,
    PlatformClient,
)
from api.messaging_platform.settings import MsgappSettings

ACCOUNTS = ("a", "b", "c", "d", "e", "f")


class Nothing(Struct, frozen=True):
    """A response without content."""


class Content:
    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield an empty object."""
        yield b"{}"


class Response:
    status = 200

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.content = Content()


class Platform:
    """A platform that responds when `answer` is called; all accounts share a business account."""

    def __init__(self) -> None:
        self.begun: list[str] = []  # the accounts of requests that have a connection
        self._answers: list[asyncio.Event] = []
        of_all = {each: {"business_id": "1", "token": "t"} for each in ACCOUNTS}
        self._client = PlatformClient(
            cast("aiohttp.ClientSession", self),
            MsgappSettings.model_validate({"url": "https://platform", "accounts": of_all}),
        )
        self.tasks: list[asyncio.Task[Nothing]] = []

    @asynccontextmanager
    async def request(self, _method: str, url: str, **_options: Any) -> AsyncIterator[Response]:
        """Respond as aiohttp's session does."""
        self.begun.append(url.rpartition("/")[2])
        answer = asyncio.Event()
        self._answers.append(answer)
        await answer.wait()
        yield Response()

    async def ask(self, accounts: str) -> None:
        """Send a request of each of these accounts."""
        for each in accounts:
            business = self._client.business(each)
            request = self._client.request(Nothing, business, "GET", each)
            self.tasks.append(asyncio.create_task(request))
        await settle()

    async def answer(self, number: int) -> None:
        """Respond to the request that has begun as the nth one."""
        self._answers[number].set()
        await settle()


async def settle() -> None:
    """Let all tasks go as far as they can."""
    for _ in range(10):
        await asyncio.sleep(0)


async def test_an_account_holds_a_part_of_the_connections() -> None:
    """What it has in line does not delay another account, also one of the same business."""
    platform = Platform()
    await platform.ask("a" * MAX_OF_ACCOUNT + "b")
    assert platform.begun == ["a"] * CONNECTIONS_OF_ACCOUNT + ["b"]
    await platform.ask("cde" * CONNECTIONS_OF_ACCOUNT)
    assert len(platform.begun) == MAX_CONNECTIONS


async def test_the_next_account_is_first() -> None:
    """When a connection is free, an account that has fewer requests in line does not wait longer.

    A request that waits has not begun, so the time of its response has not either.
    """
    platform = Platform()
    await platform.ask("".join(each * CONNECTIONS_OF_ACCOUNT for each in "abcd"))
    await platform.ask("aaaaa" + "e")
    before = len(platform.begun)
    for number in range(2):
        await platform.answer(number)
    assert platform.begun[before:] == ["a", "e"]


async def test_an_account_with_too_much_in_line() -> None:
    """It is refused; that of another account is not, and later ones are not."""
    platform = Platform()
    await platform.ask("a" * (MAX_OF_ACCOUNT + 1) + "b")
    with pytest.raises(TooManyRequests):
        await platform.tasks[MAX_OF_ACCOUNT]
    await platform.answer(0)
    await platform.ask("a")
    assert sum(each.done() for each in platform.tasks) == 2
    assert not platform.tasks[-1].done()
