"""The page of live calls, against real calls in a real browser."""

from playwright.async_api import Browser, Route, expect

from tests.harness.console.axe import assert_accessible, assert_accessible_in_both_themes
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import CUSTOMER, Parties
from tests.harness.servers.api import AccountClient

MENU = {"type": "gather", "data": {"maxDigits": 1, "timeout": 60_000}}
PAUSE = {"type": "pause", "data": {"length": 60}}
CALL = {
    "callId": "1-pbx1-1",
    "account": "acme",
    "direction": "inbound",
    "from": MARKUP,
    "to": MARKUP,
    "status": "in-progress",
    "state": "bridged",
    "createdMs": 1,
    "answeredMs": 2,
    "legs": [{"channelId": "l1", "party": MARKUP, "state": "up", "agent_id": MARKUP}],
    "agents": [MARKUP],
}


async def test_a_call_is_followed_from_ringing_to_its_end(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """By events alone: menu, a party that is called, a conversation, a hold, and the end."""
    source = await parties.add_phone("source", picks_up=False)
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    number = await lab.add_number({**MENU, "action": dial}, account=api.account)
    async with console_page(browser, api, path="/console/calls") as page:
        await expect(page.get_by_text("No call is live.")).to_be_visible()
        customer = await parties.call_in(number)
        row = page.locator(f'tr[data-call="{parties.call}"]')
        await expect(row).to_contain_text("in menu")
        await expect(row).to_contain_text(CUSTOMER)
        await customer.press("1")
        await expect(row).to_contain_text("ringing")
        await expect(row).to_contain_text("ada")
        await source.pick_up()
        await expect(row).to_contain_text("talking")
        await expect(page.locator(".figure", has_text="talking")).to_contain_text("1")
        await parties.control("hold", channelId=await parties.leg("customer"))
        await expect(row).to_contain_text("on hold")
        await page.get_by_label("Agent").fill("ada")
        await page.get_by_label("State").select_option("talking")
        await expect(page.get_by_text("No call matches.")).to_be_visible()
        await page.get_by_label("State").select_option("hold")
        await expect(row).to_be_visible()
        assert page.url.endswith("/console/calls?agent=ada&phase=hold")
        await page.reload()
        await expect(row).to_be_visible()
        await page.get_by_label("State").select_option("")
        await parties.control("hangup")
        await expect(row).to_contain_text("ended")
        await expect(row).to_have_count(0)
        await expect(page.get_by_text("1 ended")).to_be_visible()


async def test_an_agent_sees_own_calls_only(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """Without the account's events: lists are read every few seconds; ended calls are counted."""
    source = await parties.add_phone("source")
    other = await parties.add_caller("fourth", await lab.add_number(PAUSE, account=api.account))
    await lab.wait_for_call()
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    caller = await parties.add_caller("customer", await lab.add_number(dial, account=api.account))
    async with console_page(browser, api, agent="ada", path="/console/calls") as page:
        rows = page.locator("tr[data-call]")
        await expect(rows).to_have_count(1)
        await expect(rows).to_contain_text("talking")
        await caller.hang_up()
        await expect(rows).to_have_count(0)
        today = page.get_by_role("region", name="Your ended calls of today")
        await expect(today.locator(".figure", has_text="answered")).to_contain_text("1")
        await assert_accessible(page)
    await other.hang_up()


async def test_markup_is_text_and_no_rule_is_broken(browser: Browser, api: AccountClient) -> None:
    """Whatever the names of the parties and agents are."""

    async def fulfil(route: Route) -> None:
        await route.fulfill(json={"data": [CALL], "total": 1, "limit": 100, "offset": 0})

    async with console_page(browser, api) as page:
        await page.route("**/srmain/voice/calls?*", fulfil)
        await page.goto(f"{api.url}/console/calls")
        row = page.locator("tr[data-call]")
        await expect(row.get_by_text(MARKUP, exact=True)).to_have_count(3)
        await expect(page.locator("canvas")).to_have_count(3)
        assert await page.locator("main img").count() == 0
        await assert_accessible_in_both_themes(page)
