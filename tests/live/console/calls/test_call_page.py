"""The page of a call: its ladder against real calls, its controls, webhooks and recording."""

import asyncio
import json
import re
from xml.etree import ElementTree as ET

from playwright.async_api import Browser, Locator, Page, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, add_owner
from tests.harness.customers.webhook_server import WebhookServer, raw
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient
from tests.harness.until import until

PAUSE = {"type": "pause", "data": {"length": 60}}


def step(page: Page, text: str | re.Pattern[str]) -> Locator:
    """Return a step of the ladder."""
    return page.locator("call-ladder .step", has_text=text).first


async def read_download(page: Page, button: str) -> str:
    """Return the text of the file that a button downloads."""
    async with page.expect_download() as started:
        await page.get_by_role("button", name=button).click()
    path = await (await started.value).path()
    return await asyncio.to_thread(path.read_text)


async def test_a_call_is_drawn_while_it_happens(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties, hooks: WebhookServer
) -> None:
    """Lifelines, verbs, digits and webhooks appear; keys choose steps; its files have them, too."""
    source = await parties.add_phone("source")
    gather = {"type": "gather", "data": {"maxDigits": 1, "timeout": 60_000}}
    start = hooks.answers("/start", {**gather, "action": hooks.url("/menu")})
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    hooks.answers("/menu", {**dial, "action": PAUSE})
    customer = await parties.call_in(await lab.add_number(start, account=api.account))
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        await expect(step(page, re.compile("response in .*: gather up to"))).to_be_visible()
        await expect(page.locator(".lane-name")).to_have_text(["A", "engine", "server"])
        await customer.press("1")
        await expect(step(page, "presses 1")).to_be_visible()
        await expect(
            step(page, re.compile("webhook .*/menu after gather: digits “1”"))
        ).to_be_visible()
        await expect(step(page, "bridged: A and B")).to_be_visible()
        await expect(page.locator(".lane-name")).to_have_text(["A", "B", "engine", "server"])
        await expect(page.locator(".span.verb")).to_have_count(2)
        await expect(page.locator(".span.bridge")).to_have_count(2)
        ladder = page.get_by_role("group", name="Ladder of the call")
        await ladder.focus()
        await page.keyboard.press("Home")
        for _ in range(3):
            await page.keyboard.press("ArrowDown")
        details = page.locator("step-details")
        await expect(details).to_contain_text("gather up to 1 digits")
        await expect(details).to_contain_text('"event": "start"')
        await expect(details).to_contain_text('"type": "gather"')
        await assert_accessible(page)
        story = json.loads(await read_download(page, "Download JSON"))
        assert story["call"]["callId"] == parties.call
        drawn = ET.fromstring(await read_download(page, "Download SVG"))  # noqa: S314 - our own
        assert "presses 1" in "".join(drawn.itertext())
        await page.get_by_role("button", name="As a table").click()
        await expect(page.get_by_role("row", name=re.compile("presses 1"))).to_be_visible()


async def test_a_call_is_controlled(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """Hold, resume and mute of a leg, then a hangup; the parties hear it."""
    source = await parties.add_phone("source")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    await parties.call_in(await lab.add_number(dial, account=api.account))
    await parties.expect_audio(customer="source", source="customer")
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        leg = page.locator(f'[data-leg="{await parties.leg("customer")}"]')
        await leg.get_by_role("button", name="Hold").click()
        await parties.expect_audio(customer="music", source="")
        await expect(leg).to_contain_text("on hold")
        await expect(page.locator(".span.hold")).to_have_count(1)
        await leg.get_by_role("button", name="Resume").click()
        await parties.expect_audio(customer="source", source="customer")
        await leg.get_by_role("button", name="Mute", exact=True).click()
        await parties.expect_audio(customer="source", source="")
        await leg.get_by_role("button", name="Unmute").click()
        await parties.expect_audio(customer="source", source="customer")
        await page.get_by_role("button", name="Call a party").click()
        await page.get_by_role("textbox", name="Party").fill("agent:nobody-here")
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("dialog")).to_contain_text("unknown_agent")
        await page.get_by_role("button", name="Cancel").click()
        await page.get_by_role("button", name="Hang up the call").click()
        await page.get_by_role("dialog").get_by_role("button", name="Hang up the call").click()
        await source.wait_ended()
        await expect(page.locator(".tag", has_text="answered")).to_be_visible()
        await expect(page.get_by_role("heading", name="Control")).to_have_count(0)


async def test_a_recording_and_a_transfer_are_started_and_ended(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """Attended: the agent talks to the target, then leaves both; buttons follow the state."""
    source, target = await parties.add_phone("source"), await parties.add_phone("target")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    await parties.call_in(await lab.add_number(dial, account=api.account))
    await parties.expect_audio(customer="source", source="customer")
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        await page.get_by_role("button", name="Start recording").click()
        await page.get_by_role("button", name="Pause recording").click()
        await page.get_by_role("button", name="Resume recording").click()
        await page.get_by_role("button", name="Stop recording").click()
        await expect(page.get_by_role("button", name="Pause recording")).to_have_count(0)
        await page.get_by_role("button", name="Transfer", exact=True).click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_role("textbox", name="Party").fill(target.address)
        await dialog.get_by_role("button", name="Transfer").click()
        await parties.expect_audio(source="target", target="source", customer="music")
        await page.get_by_role("button", name="Complete the transfer").click()
        await source.wait_ended()
        await parties.expect_audio(customer="target", target="customer")
        await expect(step(page, "completed")).to_be_visible()
    await parties.hang_up()


async def test_a_webhook_is_sent_again(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties, hooks: WebhookServer
) -> None:
    """The cause is said in words with the page of its code; the response is text, not markup."""
    html = raw(f"<html>{MARKUP}</html>".encode())
    number = await lab.add_number(hooks.answers("/start", html), account=api.account)
    caller = await parties.add_caller("customer", number)
    await caller.wait_ended()
    (call,) = await ended_calls(api)
    async with console_page(browser, api, path=f"/console/calls/{call}") as page:
        faults = page.get_by_role("region", name="What went wrong")
        await expect(faults).to_contain_text(f"The server at {hooks.url('/start')} returned HTML")
        await expect(faults.get_by_role("link", name="not_json")).to_be_visible()
        await faults.get_by_role("button", name="Show").click()
        details = page.locator("step-details")
        await expect(details.get_by_text(MARKUP)).to_be_visible()
        assert await page.locator("main img").count() == 0
        await assert_accessible(page)
        before = len(hooks.requests_to("/start"))
        await details.get_by_role("button", name="Send again").first.click()
        await hooks.wait_for_request("/start", before + 1)
        await expect(details.get_by_text("Sent again")).to_be_visible()
        await expect(step(page, "retry of")).to_be_visible()


async def test_the_cursor_of_a_recording_moves_through_the_ladder(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """Both sides have a waveform on the ladder's axis of time, and the replay is the same."""
    source = await parties.add_phone("source")
    dial = {"type": "dial", "data": {"number": source.address}}
    number = await lab.add_number(dial, account=api.account, recordCall=True)
    customer = await parties.call_in(number)
    await parties.expect_audio_for(1_500, {"customer": "source", "source": "customer"})
    await customer.hang_up()
    await lab.wait_ended(parties.call)
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        await expect(page.locator("path.wave")).to_have_count(2)
        audio = page.locator("audio")
        await audio.evaluate("each => { each.currentTime = 0.2; }")
        cursor = page.locator("line.cursor")
        await expect(cursor).to_have_count(1)
        early = float(await cursor.get_attribute("y1") or 0)
        await audio.evaluate("each => { each.currentTime = 1.2; }")
        await expect(cursor).not_to_have_attribute("y1", str(early))
        assert float(await cursor.get_attribute("y1") or 0) > early
        await page.get_by_role("button", name="Replay with this engine").click()
        await expect(page.get_by_text("The engine would decide the same now")).to_be_visible()


async def test_a_call_of_another_account_is_not_found(
    browser: Browser, api: AccountClient, lab: Lab, parties: Parties
) -> None:
    """And an agent sees own calls only, with controls of the own leg."""
    other = await add_owner(api, other=True)
    source = await parties.add_phone("source")
    dial = {"type": "dial", "data": {"number": source.address, "agent_id": "ada"}}
    await parties.call_in(await lab.add_number(dial, account=api.account))
    path = f"/console/calls/{parties.call}"
    async with console_page(browser, other, path=path) as page:
        await expect(page.get_by_role("alert")).to_contain_text("not_found")
    async with console_page(browser, api, agent="bob", path=path) as page:
        await expect(page.get_by_role("alert")).to_contain_text("not_found")
    async with console_page(browser, api, agent="ada", path=path) as page:
        await expect(page.locator("[data-leg]")).to_have_count(1)
        await expect(step(page, "bridged: A and B")).to_be_visible()
        await expect(page.get_by_role("button", name="Replay")).to_have_count(0)


async def ended_calls(api: AccountClient) -> list[str]:
    """Return the ids of the calls that have a record, as soon as there is one."""
    owner = await add_owner(api)
    filters = "dialedNumber=&dispositionLevel1Id=&dispositionLevel2Id=&dispositionLevel3Id="
    found: list[str] = []

    async def has_one() -> bool:
        rows = (await owner.rest("GET", f"/srmain/cdr?{filters}"))["data"]
        found[:] = [each["reqId"] for each in rows]
        return bool(found)

    await until(has_one, what="a call record")
    return found
