"""Calls of the phone in a browser, verified by tone in both directions."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.servers.api import AccountClient
from tests.live.console.phone.workstation import (
    CUSTOMER_HZ,
    MICROPHONE_HZ,
    Workstation,
    assert_talk,
)


async def test_a_customer_calls_the_agent(station: Workstation) -> None:
    """The phone rings, the agent answers, and both hear each other; the codec is the PBX's own."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await station.phone.until_talking()
        await assert_talk(customer, station.phone)
        line = station.phone.page.get_by_text("ms round trip")
        await expect(line).to_contain_text("· G.711 µ-law · network ")
        await station.phone.click("Hang up")
        await customer.wait_ended()
    await station.phone.until_idle()


async def test_the_agent_calls_a_number(station: Workstation) -> None:
    """By one click: the server calls this phone, which answers by itself, and then the number."""
    answering = Phone.answering(station.lab.trunk_port, tone_hz=CUSTOMER_HZ, after_ms=NEVER_MS)
    async with answering as customer:
        await station.phone.dial("+47 22 22 22 22")
        await station.phone.until_ringing()
        await customer.pick_up()
        await station.phone.until_talking()
        await station.phone.until_shown("+47 22 22 22 22")
        await assert_talk(customer, station.phone)
        await customer.hang_up()
    await station.phone.until_idle()


async def test_a_phone_by_one_click(lab: Lab, api: AccountClient, browser: Browser) -> None:
    """Without an agent that has one, an account's key creates it there, and calls a number."""
    async with console_page(browser, api, path="/console/phone") as page:
        phone = BrowserPhone(page)
        await phone.click("Use this browser as a phone")
        await phone.until_ready()
        async with Phone.answering(lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
            await phone.dial("+4722222222")
            await assert_talk(customer, phone)
            await customer.hang_up()
    await api.request("DELETE", "/srmain/voice/agents/browser", token=api.api_key)


async def test_a_rejected_call(station: Workstation) -> None:
    """The customer's call goes on without the agent: here it ends."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Reject")
        await customer.wait_ended()
    await station.phone.until_idle()


async def test_hold_and_mute(station: Workstation) -> None:
    """A muted agent is not heard, and hears; a held customer hears music, and is not heard."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await station.phone.click("Mute")
        await customer.until_lost(MICROPHONE_HZ)
        await station.phone.until_hears(CUSTOMER_HZ)
        await station.phone.click("Mute")
        await assert_talk(customer, station.phone)
        await station.phone.click("Hold")
        await customer.until_lost(MICROPHONE_HZ)
        await station.phone.until_silent()
        (call,) = await station.calls()
        assert [each.get("held", False) for each in call["legs"]] == [True, False]
        await station.phone.click("Hold")
        await assert_talk(customer, station.phone)
        await customer.hang_up()
    await station.phone.until_idle()


async def test_the_phone_breaks_no_rule(station: Workstation) -> None:
    """Of axe-core: idle, ringing, in a call with all that can be opened, in both themes."""
    page = station.phone.page
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.button("Answer").wait_for()
        await assert_accessible(page)
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await page.get_by_text("Microphone and speaker").click()
        for shown in ("Keypad", "Transfer"):
            await station.phone.click(shown)
            for theme in ("dark", "light"):
                await page.get_by_label("Theme").select_option(theme)
                await assert_accessible(page)
        await customer.hang_up()
    await station.phone.until_idle()
    await assert_accessible(page)
