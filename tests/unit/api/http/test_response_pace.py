"""Responses to strangers, and refusals, wait for their turn; others do not."""

from typing import Any

import pytest
from starlette.types import Receive, Scope, Send

from api.http.response_pace import (
    BURST_S,
    MAX_WAIT_S,
    REFUSALS_PER_S,
    SMALL_BODY_BYTES,
    ResponsePace,
)

PER_S = 10
BURST = int(PER_S * BURST_S)


class Pace:
    """The middleware before an application that authenticates whoever has an account."""

    def __init__(self) -> None:
        self.now_s, self.waits_s, self.sent = 100.0, [0.0], 0
        self.waited_before_body_s = 0.0
        self._pace = ResponsePace(self._answer, PER_S, str, lambda: self.now_s, self._sleep)

    async def request(
        self,
        *,
        address: str = "192.0.2.1",
        account: str = "",
        pair: str = "",
        status: int = 200,
        length: str = "",
    ) -> float:
        """Send a request with a key that is valid for an account, or that no account has.

        A pair is in the body.
        """
        self.waits_s = [0.0]
        scope: dict[str, Any] = {
            "type": "http",
            "client": (address, 5),
            "state": {},
            "account": account,
            "pair": pair,
            "status": status,
            "headers": [(b"authorization", b"x")],
        }
        if length:
            scope["headers"].append((b"content-length", length.encode()))
        await self._pace(scope, self._receive, self._send)
        return round(sum(self.waits_s), 3)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["account"]:
            scope["state"]["caller"] = scope["account"]
        await receive()
        await receive()
        if scope["pair"]:
            scope["state"]["caller"] = scope["pair"]
        await send({"type": "http.response.start", "status": scope["status"], "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def _sleep(self, seconds: float) -> None:
        self.waits_s.append(seconds)

    async def _receive(self) -> Any:
        self.waited_before_body_s = round(sum(self.waits_s), 3)
        return {"type": "http.request"}

    async def _send(self, _message: Any) -> None:
        self.sent += 1


async def test_strangers_have_a_rate() -> None:
    """After a burst each waits for its turn; a turn that has passed is free again."""
    pace = Pace()
    waits = [await pace.request() for _ in range(BURST + 4)]
    assert waits == [0.0] * (BURST + 1) + [0.1, 0.2, 0.3]
    assert pace.sent == 2 * len(waits)
    pace.now_s += 0.3
    assert await pace.request() == pytest.approx(0.1)


async def test_a_body_is_read_in_turn() -> None:
    """The body of a stranger is not read before its turn: to decode it costs most."""
    pace = Pace()
    for _ in range(BURST + 4):
        assert await pace.request() == pace.waited_before_body_s
    assert pace.waited_before_body_s


@pytest.mark.parametrize("length", ["200", str(SMALL_BODY_BYTES)])
async def test_a_small_body_is_read_at_once(length: str) -> None:
    """So a pair that is valid does not wait behind strangers; the refusal of a wrong one does."""
    pace = Pace()
    for _ in range(BURST + 4):
        await pace.request(length=length)
    assert await pace.request(pair="acme", length=length) == 0
    assert await pace.request(length=length) > 0
    assert pace.waited_before_body_s == 0


@pytest.mark.parametrize("length", ["", str(SMALL_BODY_BYTES + 1), "x", "²"])
async def test_other_bodies_are_read_in_turn(length: str) -> None:
    """Also with a valid pair: what they have must be decoded first."""
    pace = Pace()
    for _ in range(BURST + 4):
        await pace.request(length=length)
    assert await pace.request(pair="acme", length=length) == pace.waited_before_body_s > 0


async def test_a_flood_makes_nobody_wait_for_ever() -> None:
    """Those that wait longest take no turn."""
    pace = Pace()
    for _ in range(1_000):
        assert await pace.request() <= MAX_WAIT_S
    pace.now_s += MAX_WAIT_S
    assert await pace.request() <= 1 / PER_S


@pytest.mark.parametrize("other", [{"account": "acme"}, {"address": "192.0.2.2"}])
async def test_others_do_not_wait(other: dict[str, Any]) -> None:
    """A customer at the same address, and strangers at other addresses."""
    pace = Pace()
    for _ in range(100):
        await pace.request()
    assert await pace.request(**other) == 0


async def test_refusals_have_a_rate() -> None:
    """Those of an account; what is accepted does not wait, nor do those of another account."""
    pace, burst = Pace(), int(REFUSALS_PER_S * BURST_S)
    waits = [await pace.request(account="a", status=429) for _ in range(burst + 3)]
    assert waits == [0.0] * (burst + 1) + [0.05, 0.1]
    assert await pace.request(account="a") == 0
    assert await pace.request(account="b", status=429) == 0
