"""The workstation of an agent: the phone in the browser, and the servers behind it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from msgspec import Struct
from playwright.async_api import Browser

from tests.harness.console.browser import console_page
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient

AGENT = "ada"
MICROPHONE_HZ = 700
CUSTOMER_HZ = 450


class Workstation(Struct, frozen=True):
    """An agent whose phone is ready."""

    lab: Lab
    api: AccountClient
    phone: BrowserPhone

    @property
    def endpoint(self) -> str:
        """Return the endpoint of the agent's phone at the PBX."""
        return endpoint_of(self.api)

    async def customer(self) -> str:
        """Return a number that calls the agent."""
        dial = {"type": "dial", "data": {"number": f"agent:{AGENT}"}}
        return await self.lab.add_number(dial, account=self.api.account)

    async def calls(self) -> list[dict[str, Any]]:
        """Return the live calls of the account, as the engine shows them."""
        found = await self.lab.engine.rpc("GET", f"/calls?account={self.api.account}")
        return list(found["calls"])

    async def talk_to_a_customer(self) -> None:
        """Answer a customer, by tone in both directions, and hang up."""
        number = await self.customer()
        async with Phone.calling(self.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
            await self.phone.click("Answer")
            await self.phone.until_talking()
            await assert_talk(customer, self.phone)
            await self.phone.click("Hang up")
            await customer.wait_ended()
        await self.phone.until_idle()

    async def gathered(self, hooks: WebhookServer, keys: str) -> str:
        """Call the agent, who presses keys; returns those that the call has gathered."""
        hooks.answers("/digits", None)
        data = {"maxDigits": len(keys), "timeout": 20_000}
        gather = {"type": "gather", "data": data, "action": hooks.url("/digits")}
        body = {"from": self.api.number, "to": f"agent:{AGENT}", "action": gather}
        await self.api.request("POST", "/srmain/voice/call", body, token=self.api.api_key)
        await self.phone.click("Answer")
        await self.phone.until_talking()
        await self.phone.click("Keypad")
        for key in keys:
            await self.phone.click(key)
        request = await hooks.wait_for_request("/digits")
        await self.phone.until_idle()
        return str(request.body["dtmf"])


def endpoint_of(api: AccountClient) -> str:
    """Return an endpoint that no agent of another test has."""
    return f"{api.account}-{AGENT}"


@asynccontextmanager
async def open_station(
    lab: Lab, api: AccountClient, agent: str, browser: Browser
) -> AsyncIterator[Workstation]:
    """Open the console's phone as the agent, ready for calls."""
    async with console_page(browser, api, agent=agent, path="/console/phone") as page:
        phone = BrowserPhone(page)
        await phone.go_online()
        yield Workstation(lab, api, phone)


async def assert_talk(customer: Phone, phone: BrowserPhone) -> None:
    """Both hear each other, by tone."""
    await customer.until_hears(MICROPHONE_HZ)
    await phone.until_hears(CUSTOMER_HZ)
