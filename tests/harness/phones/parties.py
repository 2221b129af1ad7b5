"""The parties of one call, each with a phone and its own tone; tests who hears whom.

async with Parties(lab) as parties:
    await parties.connect()                     # the customer calls in, the source is dialled
    await parties.expect_audio(customer="source", source="customer")
    await parties.control("hold", channelId=await parties.leg("customer"))
    await parties.expect_audio(customer="music", source="")
"""

from collections.abc import Mapping
from contextlib import AsyncExitStack
from http import HTTPStatus
from typing import Any, Self

from tests.harness.live_lab import Lab
from tests.harness.monotonic import now_ms
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.listener import Listener
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.phones.sip import ULAW_AND_EVENTS
from tests.harness.ports import free_port
from tests.harness.servers.engine import RequestError
from tests.harness.until import MAX_WAIT_S, until

# Not multiples of one another, so that overtones of a mixture match no other tone.
TONES_HZ = {
    "customer": 600,
    "source": 700,
    "target": 850,
    "fourth": 1050,
    "prompt": 1300,
    "song": 1550,
}
STEADY_MS = 300
CUSTOMER = "+15550077"

View = dict[str, Any]


class Parties:
    """Phones by the name of their tone; `call` is the id of their call."""

    def __init__(self, lab: Lab) -> None:
        self.lab = lab
        self.call = ""
        self.phones: dict[str, Phone] = {}
        self._parties: dict[str, str] = {}
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        await self._stack.__aenter__()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def __getitem__(self, name: str) -> Phone:
        return self.phones[name]

    async def add_phone(
        self, name: str, *, picks_up: bool = True, port: int = 0, media: str = ULAW_AND_EVENTS
    ) -> Phone:
        """Add a phone that answers calls; with picks_up=False it answers on `pick_up`."""
        answers = Phone.answering(
            port or free_port(),
            tone_hz=TONES_HZ[name],
            after_ms=1 if picks_up else NEVER_MS,
            media=media,
        )
        return await self._add(name, answers)

    async def add_agent(
        self, name: str, agent: str, *, pbx: Pbx | None = None, picks_up: bool = True
    ) -> Phone:
        """Add a phone that registers as an agent, at the call's node unless another is given."""
        self._parties[name] = f"agent:{agent}"
        answers_ms = 1 if picks_up else NEVER_MS
        node = pbx or self.lab.pbx
        phone = Phone.agent(node, agent, tone_hz=TONES_HZ[name], after_ms=answers_ms)
        return await self._add(name, phone)

    async def add_refusing(self, name: str, status: int, port: int = 0) -> Phone:
        """Add a phone that refuses calls."""
        return await self._add(name, Phone.refusing(port or free_port(), status))

    async def call_in(self, number: str) -> Phone:
        """Let the customer call a number and remember the call id."""
        calling = Phone.calling(self.lab.pbx, number, tone_hz=TONES_HZ["customer"], caller=CUSTOMER)
        customer = await self._add("customer", calling)
        self._parties["customer"] = CUSTOMER
        self.call = await self.lab.wait_for_call()
        return customer

    async def add_caller(self, name: str, number: str) -> Phone:
        """Let a further party call a number: another call begins."""
        return await self._add(name, Phone.calling(self.lab.pbx, number, tone_hz=TONES_HZ[name]))

    async def connect(self, then: object = None, source_media: str = ULAW_AND_EVENTS) -> None:
        """Connect the customer, who calls in, to the source, agent ada; `then` follows the dial."""
        source = await self.add_phone("source", media=source_media)
        await self.call_in(await self.lab.add_number(_dial(source, then, "ada")))
        await self.expect_audio(customer="source", source="customer")

    async def connect_from_source(self, then: object = None, account: str = "acme") -> None:
        """Call the source, then dial the customer and connect both."""
        source, customer = await self.add_phone("source"), await self.add_phone("customer")
        action = _dial(customer, then)
        self.call = await self.lab.call(account=account, to=source.address, action=action)
        await self.expect_audio(customer="source", source="customer")

    async def expect_audio(self, **expected: str) -> None:
        """Wait until each party hears exactly the given names; "" is silence."""
        await self.expect_audio_for(STEADY_MS, expected)

    async def expect_audio_for(
        self, for_ms: float, expected: Mapping[str, str], timeout_s: float = MAX_WAIT_S
    ) -> None:
        """Wait until the expectation has held for some time."""
        expectation = {name: frozenset(what.split()) for name, what in expected.items()}
        since_ms = now_ms()

        def is_steady() -> bool:
            nonlocal since_ms
            if self.heard_now(*expectation) != expectation:
                since_ms = now_ms()
            return now_ms() - since_ms > for_ms

        try:
            await until(is_steady, timeout_s=timeout_s, every_s=0.04, what="the expected audio")
        except TimeoutError:
            heard = self.heard_now(*expectation)
            raise TimeoutError(f"heard {heard}, expected {expectation}") from None

    def heard_now(self, *names: str) -> dict[str, frozenset[str]]:
        """Return what the named parties hear now."""
        return {name: self.listener(name).hears() for name in names}

    def listener(self, name: str) -> Listener:
        return Listener(self.phones[name], TONES_HZ)

    async def view(self) -> View:
        """Return the view of the call."""
        return await self.lab.engine.call(self.call)

    async def leg(self, name: str) -> str:
        """Return the channel id of a party."""
        party = self._parties[name]
        legs = (await self.view())["legs"]
        return str(next(each["channelId"] for each in legs if each["party"] == party))

    async def control(self, path: str, **request: object) -> View:
        """Send a control request for the call."""
        return await self.lab.engine.rpc("POST", f"/calls/{self.call}/{path}", request)

    async def hang_up(self) -> None:
        """Hang up the call if it has not ended, and wait for its end."""
        if self.call:
            await until(self._is_hung_up, what="the hangup to be accepted")
            await self.lab.wait_ended(self.call)

    async def _is_hung_up(self) -> bool:
        try:
            await self.control("hangup")
        except RequestError as refused:
            return refused.status != HTTPStatus.SERVICE_UNAVAILABLE
        return True

    async def _add(self, name: str, phone: Any) -> Phone:
        opened: Phone = await self._stack.enter_async_context(phone)
        self.phones[name] = opened
        self._parties.setdefault(name, opened.address)
        return opened


def _dial(phone: Phone, then: object, agent: str | None = None) -> View:
    dial = {"type": "dial", "data": {"number": phone.address, "agent_id": agent}}
    return dial if then is None else {**dial, "action": then}
