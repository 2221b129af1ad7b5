"""Targets that answer, beside many that never do, or slowly: connections are limited over all."""

import asyncio

from aiohttp import web

from engine.store.store import Store
from tests.harness.callbacks.scene import open_scene
from tests.harness.customers.callback_server import CallbackServer
from tests.harness.until import until

MAX_IN_FLIGHT = 40
DEAD_TARGETS, CALLS_EACH = 100, 5
LIVE_CALLS = 200


SLOW_TARGETS = 80


class DeadServer(CallbackServer):
    """Answers nothing until it is released; knows how many requests it had open at once."""

    def __init__(self) -> None:
        super().__init__()
        self.is_released = asyncio.Event()
        self.max_open = 0
        self._open = 0

    async def hang(self, _request: web.Request) -> web.StreamResponse:
        """Wait for the release."""
        self._open += 1
        self.max_open = max(self.max_open, self._open)
        try:
            await self.is_released.wait()
        finally:
            self._open -= 1
        return web.Response(status=204)


async def test_dead_targets_leave_room_for_a_live_one(store: Store) -> None:
    """They have one request each and half of the limit in all; the others arrive meanwhile."""
    async with (
        CallbackServer() as customer,
        DeadServer() as dead,
        open_scene(store, max_in_flight=MAX_IN_FLIGHT, response_timeout_s=60) as scene,
    ):
        await scene.put_target(customer.url("/"), "good")
        await scene.emit("3-pbx1-first000", 0, account="good")
        await customer.wait_for_requests(1)
        for number in range(DEAD_TARGETS):
            dead.answers[f"/{number}"] = dead.hang
            for call in range(CALLS_EACH):
                call_id, url = f"3-pbx1-d{number:03}{call:04}", dead.url(f"/{number}")
                await scene.emit(call_id, 0, account=f"dead{number}", target=url)
        for number in range(LIVE_CALLS):
            await scene.emit(f"3-pbx1-good{number:04}", 0, account="good")
        await customer.wait_for_requests(1 + LIVE_CALLS)
        await until(lambda: dead.max_open == MAX_IN_FLIGHT // 2, what="the dead targets' share")
        assert len({each.path for each in dead.requests}) == MAX_IN_FLIGHT // 2
        dead.is_released.set()
        await scene.until_empty(30)
    assert dead.max_open <= MAX_IN_FLIGHT
    assert len(set(dead.ids())) == DEAD_TARGETS * CALLS_EACH


async def test_slow_targets_of_an_account_leave_room_for_others(store: Store) -> None:
    """Also if they have answered before: their account has a quarter of the limit."""
    async with (
        CallbackServer() as customer,
        DeadServer() as slow,
        open_scene(store, max_in_flight=MAX_IN_FLIGHT, response_timeout_s=60) as scene,
    ):
        urls = [slow.url(f"/{number}") for number in range(SLOW_TARGETS)]
        slow.answers = {f"/{number}": slow.hang for number in range(SLOW_TARGETS)}
        slow.is_released.set()
        for number, url in enumerate(urls):
            await scene.emit(f"3-pbx1-first{number:03}", 0, target=url)
        await scene.until_empty(30)
        slow.is_released.clear()
        slow.max_open = 0
        for number, url in enumerate(urls):
            await scene.emit(f"3-pbx1-slow{number:04}", 0, target=url)
        await until(lambda: slow.max_open == MAX_IN_FLIGHT // 4, what="the account's share")
        await scene.put_target(customer.url("/"), "good")
        await scene.emit("3-pbx1-good0000", 0, account="good")
        await customer.wait_for_requests(1)
        assert slow.max_open == MAX_IN_FLIGHT // 4
        slow.is_released.set()
        await scene.until_empty(30)
    assert len(set(slow.ids())) == 2 * SLOW_TARGETS
