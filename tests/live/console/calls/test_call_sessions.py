"""The page of a call: parties that are called, transfers and conferences, heard by the parties."""

from collections.abc import AsyncIterator

import pytest_asyncio
from playwright.async_api import Browser, Locator, Page, expect

from tests.harness.console.browser import console_page
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient


@pytest_asyncio.fixture(loop_scope="session")
async def page(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> AsyncIterator[Page]:
    """Connect a customer with agent ada, and open the page of their call."""
    source = await parties.add_phone("source")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    await parties.call_in(await lab.add_number(dial, account=api.account))
    await parties.expect_audio(customer="source", source="customer")
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        yield page


def button(page: Page, name: str) -> Locator:
    return page.get_by_role("button", name=name, exact=True)


async def name_party(page: Page, action: str, address: str, submit: str, kind: str = "") -> None:
    """Fill in the form of an action."""
    await button(page, action).click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_role("textbox", name="Party").fill(address)
    if kind:
        await dialog.get_by_label("Kind").select_option(kind)
    await dialog.get_by_role("button", name=submit, exact=True).click()
    await expect(dialog).to_have_count(0)


async def test_a_party_is_called_into_the_call(parties: Parties, page: Page) -> None:
    """All three hear one another, and the ladder gets the lane of the third."""
    target = await parties.add_phone("target")
    await name_party(page, "Call a party", target.address, "Call")
    await parties.expect_audio(
        customer="source target", source="customer target", target="customer source"
    )
    await expect(page.locator("call-ladder .lane-name", has_text="C")).to_be_visible()
    await expect(page.locator("[data-leg]")).to_have_count(3)
    await parties.hang_up()


async def test_a_transfer_is_canceled(parties: Parties, page: Page) -> None:
    """The customer is back with the agent, and the target is hung up; both can be tried again."""
    target = await parties.add_phone("target")
    await name_party(page, "Transfer", target.address, "Transfer")
    await parties.expect_audio(source="target", target="source", customer="music")
    await button(page, "Cancel the transfer").click()
    await target.wait_ended()
    await parties.expect_audio(customer="source", source="customer")
    await expect(page.locator(".step", has_text="canceled").first).to_be_visible()
    await expect(button(page, "Transfer")).to_be_enabled()
    await parties.hang_up()


async def test_a_blind_transfer(parties: Parties, page: Page) -> None:
    """The agent leaves at once, and the customer hears the target."""
    target = await parties.add_phone("target")
    await name_party(page, "Transfer", target.address, "Transfer", "blind")
    await parties["source"].wait_ended()
    await parties.expect_audio(customer="target", target="customer")
    await expect(page.locator(".step", has_text="blind").first).to_be_visible()
    await parties.hang_up()


async def test_a_conference_with_a_coach(parties: Parties, page: Page) -> None:
    """The coach hears both, and only the agent hears the coach, until all hear all again."""
    target = await parties.add_phone("target")
    await name_party(page, "Conference", target.address, "Add")
    everybody = {"source": "customer target", "target": "customer source"}
    await parties.expect_audio(customer="source target", **everybody)
    coach = page.locator("[data-leg]", has_text=target.address)
    await coach.get_by_role("button", name="Coach").click()
    await expect(coach.get_by_text("coaches", exact=True)).to_be_visible()
    await parties.expect_audio(customer="source", **everybody)
    await expect(page.locator(".step", has_text="coaches").first).to_be_visible()
    await coach.get_by_role("button", name="Stop coaching").click()
    await parties.expect_audio(customer="source target", **everybody)
    await expect(page.locator(".step", has_text="stops coaching").first).to_be_visible()
    await parties.hang_up()
