"""Toll fraud: ways in which a stranger or a customer may try to call numbers that cost more.

A webhook in wrong hands, a stolen token of an agent, an agent's phone that sends REFER, calls with
a forged From, and a customer's phone that registers and sends whatever SIP allows. Each tries again
and again; the carrier must not get one call.
"""

import asyncio
import itertools
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from http import HTTPStatus
from pathlib import Path
from urllib.parse import quote

from msgspec import Struct

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.phones.digest_login import Login
from tests.harness.phones.phone import Phone
from tests.harness.phones.registration import register
from tests.harness.ports import reserved_port
from tests.harness.servers.api import ACCOUNT, NUMBER, Api
from tests.harness.servers.engine import RequestError
from tests.harness.until import until
from tools.drills.forged_events import send_forgeries
from tools.drills.hostile_phone import (
    ACCEPTED,
    INVITES,
    REGISTRATIONS,
    TARGET,
    HostilePhone,
    open_hostile_phone,
)
from tools.drills.trunk import Trunk, open_trunk

AGENT, OTHER_AGENT = "1004", "1005"
AGENTS = {"SWITCHROOM_AGENT_ACCOUNT": ACCOUNT}  # whose phones the PBX has
ALLOWED = "+4721930009"
MULE, MULE_PASSWORD, RANG = "mule", "correct-horse-battery", "rang at its own address"
BEHIND_NAT = ("Contact: <sip:a@192.168.7.7:5060>",)  # where a phone thinks that it is
PAUSE = {"type": "pause", "data": {"length": 3}}
SENDS_REFER_EVERY_S = 0.5
_FAILURE = re.compile(r"^SIP/2\.0 ([456][0-9]{2})", re.MULTILINE)
NO_RESPONSE = "no response"
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
    """How many numbers each way dialled, why they were refused, and what the carrier got."""

    tried: Counter[str]
    reasons: dict[str, Counter[str]]  # by way, of numbers that were refused or got no response
    calls: list[str]

    def refused(self, way: str) -> int:
        """Return how many numbers of a way were refused."""
        return self.reasons[way].total() - self.reasons[way][NO_RESPONSE]

    def is_way_safe(self, way: str) -> bool:
        """Whether a way was really tried, and each of its numbers was refused."""
        return 0 < self.tried[way] <= self.refused(way)

    @property
    def has_failed(self) -> bool:
        """Whether a call got through, or a number of a way was not refused."""
        return bool(self.calls) or not all(map(self.is_way_safe, WAYS))


class Drill:
    """A lab with its carrier, and an account that may call any number that is not costly."""

    def __init__(
        self, lab: Lab, api: Api, hooks: WebhookServer, trunk: Trunk, phone: HostilePhone
    ) -> None:
        self.lab = lab
        self.api = api
        self.hooks = hooks
        self.trunk = trunk
        self.phone = phone
        self.outcome = Outcome(Counter(), {way: Counter() for way in WAYS}, trunk.calls)
        self._agent_port = reserved_port()
        self._paths = itertools.count(1)
        self._registrations = itertools.cycle(REGISTRATIONS)
        self._invites = itertools.cycle(INVITES)
        self._costly = itertools.cycle([*COSTLY, f"sip:+4782912345@127.0.0.1:{lab.trunk_port}"])

    async def check_carrier(self) -> None:
        """Check that an allowed call does reach the carrier, or the drill would prove nothing."""
        request = {"from": NUMBER, "to": ALLOWED}
        await self.api.request("POST", "/srmain/voice/call", request, token=await self.api.token())
        await until(lambda: bool(self.trunk.calls), what="a call that is allowed")
        assert ALLOWED in self.trunk.calls.pop()
        await self.lab.wait_empty()

    async def add_agents(self) -> None:
        """Let one of the two agents, whose phones are those of the template, register.

        It does so once: an engine does not know a new address before it has asked about it, which
        forged events delay.
        """
        await register(self.lab.pbx, AGENT, self._agent_port)

        async def is_online() -> bool:
            found = await self.lab.engine.rpc("GET", f"/agents/{ACCOUNT}/{AGENT}")
            return bool(found["presence"] == "online")

        await until(is_online, what="the agent's phone to register")

    async def add_mule(self) -> None:
        """Give the hostile phone its login, as a customer does, and check that it rings."""
        agent, key = f"/srmain/voice/agents/{MULE}", self.api.api_key
        body = {"endpoint": f"PJSIP/{ACCOUNT}-{MULE}"}
        await self.api.request("PUT", agent, body, token=key)
        password = {"password": MULE_PASSWORD}
        await self.api.request("PUT", f"{agent}/password", password, token=key)

        async def is_registered() -> bool:
            return await self.phone.register(BEHIND_NAT) == ACCEPTED

        await until(is_registered, what="the hostile phone to register")
        rings = await self._ring_mule()
        assert rings == RANG, rings  # else the drill would prove nothing

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

    def target(self) -> str:
        """Return the next number to try."""
        return next(self._costly)

    def count(self, way: str, reason: str, numbers: int = 1) -> None:
        """Count numbers that were dialled, and why they were refused; empty: they were not."""
        self.outcome.tried[way] += numbers
        if reason:
            self.outcome.reasons[way][reason] += numbers

    async def hijacked_webhook(self, way: str) -> None:
        """Answer a call's webhook with dials of costly numbers, for as long as the call lasts."""
        rounds = [{"type": "dial", "data": {"number": [self.target(), self.target()]}}
                  for _ in COSTLY]  # fmt: skip
        path = f"/{next(self._paths)}"
        address = self.hooks.url(path)
        self.hooks.answers(path, *[{**each, "action": address} for each in rounds], None)
        number = await self.lab.add_number(address, account=ACCOUNT)
        async with Phone.calling(self.lab.pbx, number) as caller:
            without_result = NO_RESPONSE
            with suppress(TimeoutError):
                await caller.wait_ended(timeout_s=30)
                without_result = "call ended"  # as with an answer that is invalid as a whole
        results = [each.body.get("dial") for each in self.hooks.requests_to(path)][1:]
        for result in results:
            self.count(way, result["reason"] if result else "", numbers=2)
        if len(results) < len(rounds):  # the last dial that was asked for has no result
            self.count(way, without_result, numbers=2)

    async def stolen_token(self, way: str) -> None:
        """Request calls, and dials into a call, with the token of an agent."""
        token = await self.api.token(OTHER_AGENT)
        party = f"agent:{OTHER_AGENT}"
        for _ in COSTLY:
            number = self.target()
            dial = {"type": "dial", "data": {"number": number}}
            requests = ({"from": party, "to": number}, {"from": party, "to": party, "action": dial})
            for request in requests:
                try:
                    await self.api.request("POST", "/srmain/voice/call", request, token=token)
                except RequestError as error:
                    self.count(way, f"{error.status} {error.problem['code']}")
                else:
                    self.count(way, "")

    async def refer(self, way: str) -> None:
        """Transfer a caller to costly numbers from an agent's phone."""
        number = await self.lab.add_number(
            {"type": "dial", "data": {"agent_id": AGENT}}, account=ACCOUNT
        )
        async with (
            Phone.answering(self._agent_port) as phone,
            Phone.calling(self.lab.pbx, number) as caller,
        ):
            await asyncio.gather(phone.wait_answered(), caller.wait_answered())
            for _ in range(4):
                self.count(way, await _refer(phone, self.target()))
            await caller.hang_up()

    async def forged_from(self, way: str) -> None:
        """Call costly numbers from outside, as the account's number or as an agent."""
        for caller in (NUMBER, AGENT):
            target = quote(self.target(), safe="+")
            async with Phone.calling(self.lab.pbx, target, caller=caller) as phone:
                try:
                    await phone.wait_ended(timeout_s=30)
                except TimeoutError:
                    self.count(way, NO_RESPONSE)
                else:
                    self.count(way, str(phone.status) if phone.status >= 400 else "")

    async def hostile_phone(self, way: str) -> None:
        """Register some contact, and let a call ring it; then call with some headers."""
        registered = await self.phone.register(next(self._registrations))
        self.count(way, f"REGISTER {registered}, {await self._ring_mule()}")
        number = await self.lab.add_number(PAUSE, account=ACCOUNT)
        self.count(way, f"INVITE {await self.phone.call(next(self._invites), number)}")

    async def forged_events(self, way: str) -> None:
        """Send text that would be events of the manager interface, then ask for a call."""
        login = Login(f"{ACCOUNT}-{MULE}", MULE_PASSWORD)
        carrier = f"127.0.0.1:{self.lab.trunk_port}"
        statuses = await send_forgeries(self.lab.pbx, login, carrier, TARGET)
        if "forged" in await self.lab.pbx.cli("database show"):
            self.count(way, "")  # an action was injected
        for status in statuses:
            self.count(way, f"REGISTER {status}")
        self.count(way, await self._ring_mule())
        request = {"from": NUMBER, "to": self.target()}
        try:
            await self.api.request(
                "POST", "/srmain/voice/call", request, token=await self.api.token()
            )
        except RequestError as error:
            is_away = error.status == HTTPStatus.SERVICE_UNAVAILABLE
            self.count(way, "" if is_away else str(error.problem["code"]))

    async def _ring_mule(self) -> str:
        """Call the hostile phone; return what becomes of that."""
        party, before = f"agent:{MULE}", self.phone.rang
        request = {"from": party, "to": party, "timeout": 5}
        try:
            found = await self.api.request(
                "POST", "/srmain/voice/call", request, token=self.api.api_key
            )
        except RequestError as error:
            return str(error.problem["code"])
        await self.lab.wait_ended(found["callId"])
        return RANG if self.phone.rang > before else "not called"


WAYS = {
    "hijacked webhook": Drill.hijacked_webhook,
    "stolen token": Drill.stolen_token,
    "REFER": Drill.refer,
    "forged From": Drill.forged_from,
    "hostile phone": Drill.hostile_phone,
    "forged events": Drill.forged_events,
}


@asynccontextmanager
async def open_drill(folder: Path) -> AsyncIterator[Drill]:
    """Run servers, with phones that may transfer."""
    # Calls of agents are not the trunk's, although both are on loopback.
    async with (
        open_lab(folder, engine_settings=AGENTS, agent_refers=True) as lab,
        Api(folder / "api", engines=[lab.engine]) as api,
        WebhookServer() as hooks,
        open_trunk(lab.trunk_port) as trunk,
        open_hostile_phone(lab.pbx, f"{ACCOUNT}-{MULE}", MULE_PASSWORD, lab.trunk_port) as phone,
    ):
        drill = Drill(lab, api, hooks, trunk, phone)
        await drill.check_carrier()
        await drill.add_agents()
        await drill.add_mule()
        yield drill


async def _refer(phone: Phone, target: str) -> str:
    """Send a REFER; return the status with which it was refused."""
    before = len(_refusals(phone))
    await phone.refer(f"<sip:{quote(target, safe='+')}@127.0.0.1>")
    try:
        await until(
            lambda: len(_refusals(phone)) > before, what=f"the end of the REFER to {target}"
        )
    except TimeoutError:
        return NO_RESPONSE
    return _refusals(phone)[before]


def _refusals(phone: Phone) -> list[str]:
    """Return the status of each REFER of a phone that was declined, at once or by NOTIFY."""
    found = []
    for each in phone.messages:
        if each.method == "REFER" and each.status >= 400:
            found.append(str(each.status))
        elif each.method == "NOTIFY" and (failed := _FAILURE.search(each.text)):
            found.append(failed[1])
    return found
