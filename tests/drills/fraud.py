"""Toll fraud: four ways in which a stranger may try to call numbers that cost more.

A webhook in wrong hands, a stolen token of an agent, an agent's phone that sends REFER, and calls
with a forged From. Each tries again and again; the carrier must not get one call.
"""

import asyncio
import itertools
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from tests.drills.trunk import Trunk, open_trunk
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until

AGENT, OTHER_AGENT = "1004", "1005"
ALLOWED = "+4721930009"
SENDS_REFER_EVERY_S = 0.5
_FAILURE = re.compile(r"^SIP/2\.0 [456]", re.MULTILINE)
COSTLY = (
    "+4782912345",
    "+478291234599",
    "004782912345",
    "+979123456789",
    "+881612345678",
    "+870773111632",
    "+18765551234",
    "+4918012345",
    "*21*+18765551234#",
)


class Outcome(Struct):
    """How often each way was tried, how often it was refused, and what the carrier got."""

    tried: Counter[str]
    refused: Counter[str]
    calls: list[str]

    @property
    def has_failed(self) -> bool:
        """Whether a call got through, or a way was not really tried."""
        return bool(self.calls) or any(not self.refused[way] for way in WAYS)


class Drill:
    """A lab with its carrier, and an account that may call any number that is not costly."""

    def __init__(self, lab: Lab, api: Api, hooks: WebhookServer, trunk: Trunk) -> None:
        self.lab = lab
        self.api = api
        self.hooks = hooks
        self.trunk = trunk
        self.outcome = Outcome(Counter(), Counter(), trunk.calls)
        self._costly = itertools.cycle([*COSTLY, f"sip:+4782912345@127.0.0.1:{lab.trunk_port}"])

    async def check_carrier(self) -> None:
        """Check that an allowed call does reach the carrier, or the drill would prove nothing."""
        request = {"from": NUMBER, "to": ALLOWED}
        await self.api.request("POST", "/srmain/voice/call", request, token=await self.api.token())
        await until(lambda: bool(self.trunk.calls), what="a call that is allowed")
        assert ALLOWED in self.trunk.calls.pop()
        await self.lab.wait_empty()

    async def run(self, seconds: float) -> Outcome:
        """Try all ways at once for this long."""
        until_s = time.monotonic() + seconds
        await asyncio.gather(*(self._repeat(way, WAYS[way], until_s) for way in WAYS))
        return self.outcome

    async def _repeat(
        self, way: str, attack: Callable[["Drill", str], Awaitable[None]], until_s: float
    ) -> None:
        while time.monotonic() < until_s:
            await attack(self, way)

    def target(self, way: str) -> str:
        """Return the next number to try."""
        self.outcome.tried[way] += 1
        return next(self._costly)

    async def hijacked_webhook(self, way: str) -> None:
        """Answer a call's webhook with dials of costly numbers, for as long as the call lasts."""
        rounds = [{"type": "dial", "data": {"number": [self.target(way), self.target(way)]}}
                  for _ in COSTLY]  # fmt: skip
        path = f"/{self.outcome.tried[way]}"
        address = self.hooks.url(path)
        self.hooks.answers(path, *[{**each, "action": address} for each in rounds], None)
        number = await self.lab.add_number(address, account=ACCOUNT)
        async with Phone.calling(self.lab.pbx, number) as caller:
            await caller.wait_ended(timeout_s=30)
        results = [each.body.get("dial") for each in self.hooks.requests_to(path)]
        self.outcome.refused[way] += sum(bool(each and each["reason"]) for each in results)

    async def stolen_token(self, way: str) -> None:
        """Request calls, and dials into a call, with the token of an agent."""
        token = await self.api.token(OTHER_AGENT)
        party = f"agent:{OTHER_AGENT}"
        for _ in COSTLY:
            number = self.target(way)
            dial = {"type": "dial", "data": {"number": number}}
            requests = ({"from": party, "to": number}, {"from": party, "to": party, "action": dial})
            for request in requests:
                try:
                    await self.api.request("POST", "/srmain/voice/call", request, token=token)
                except RequestError:
                    self.outcome.refused[way] += 1

    async def refer(self, way: str) -> None:
        """Transfer a caller to costly numbers from an agent's phone."""
        number = await self.lab.add_number(
            {"type": "dial", "data": {"agent_id": AGENT}}, account=ACCOUNT
        )
        async with (
            Phone.agent(self.lab.pbx, AGENT) as phone,
            Phone.calling(self.lab.pbx, number) as caller,
        ):
            await asyncio.gather(phone.wait_answered(), caller.wait_answered())
            for _ in range(4):
                await _refer(phone, self.target(way))
            self.outcome.refused[way] += _refusals(phone)
            await caller.hang_up()

    async def forged_from(self, way: str) -> None:
        """Call costly numbers from outside, as the account's number or as an agent."""
        for caller in (NUMBER, AGENT):
            target = quote(self.target(way), safe="+")
            async with Phone.calling(self.lab.pbx, target, caller=caller) as phone:
                await phone.wait_ended(timeout_s=30)
                self.outcome.refused[way] += phone.status >= 400


WAYS = {
    "hijacked webhook": Drill.hijacked_webhook,
    "stolen token": Drill.stolen_token,
    "REFER": Drill.refer,
    "forged From": Drill.forged_from,
}


@asynccontextmanager
async def open_drill(folder: Path) -> AsyncIterator[Drill]:
    """Run servers, with phones that may transfer."""
    # Calls of agents are not the trunk's, although both are on loopback.
    async with (
        open_lab(folder, agent_refers=True) as lab,
        Api(folder / "api", engines=[lab.engine]) as api,
        WebhookServer() as hooks,
        open_trunk(lab.trunk_port) as trunk,
    ):
        for agent in (AGENT, OTHER_AGENT):
            await lab.engine.rpc(
                "PUT", f"/agents/{ACCOUNT}/{agent}", {"endpoint": f"PJSIP/{agent}"}
            )
        drill = Drill(lab, api, hooks, trunk)
        await drill.check_carrier()
        yield drill


async def _refer(phone: Phone, target: str) -> None:
    before = _refusals(phone)
    phone.refer(f"<sip:{quote(target, safe='+')}@127.0.0.1>")
    await until(lambda: _refusals(phone) > before, what=f"the end of the REFER to {target}")


def _refusals(phone: Phone) -> int:
    """Count the REFERs of a phone that were declined, at once or by NOTIFY."""
    declined = [e for e in phone.messages if e.method == "REFER" and e.status >= 400]
    failed = [e for e in phone.messages if e.method == "NOTIFY" and _FAILURE.search(e.text)]
    return len(declined) + len(failed)
