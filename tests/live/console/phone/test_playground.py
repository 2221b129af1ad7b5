"""The playground with the phone of the same browser: no SIP account is needed."""

from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page
from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.console.editor import replace_text
from tests.harness.console.people import add_owner
from tests.harness.customers.media_server import MediaServer
from tests.harness.servers.api import AccountClient

AGENT = "/srmain/voice/agents/playground"
TONE_HZ = 900


async def test_one_click_from_the_address_that_a_lab_prints(
    browser: Browser, api: AccountClient
) -> None:
    """It signs in, and Call makes this browser a phone that hears the words of a sample."""
    page = await browser.new_page()
    fragment = f"{api.api_key}:{api.api_secret}"
    await page.goto(f"{api.url}/console/sign-in?next=/console/playground#{fragment}")
    phone = BrowserPhone(page)
    await page.get_by_role("button", name="Call", exact=True).click()
    await phone.until_talking()
    await phone.until_hears_anything()
    await phone.button("Hang up").first.click()
    await phone.until_idle()
    await api.request("DELETE", AGENT, token=api.api_key)
    await page.close()


async def test_one_click_leads_to_a_call_with_this_browser(
    browser: Browser, api: AccountClient, sounds: MediaServer
) -> None:
    """An agent is created, its phone logs in and answers, and plays what the tree says."""
    owner = await add_owner(api)
    play = {"audioUrl": sounds.tone(TONE_HZ, 1_000), "loop": 100}
    async with console_page(browser, owner, path="/console/playground") as page:
        phone = BrowserPhone(page)
        await replace_text(page, "Tree or flow", {"type": "play", "data": play})
        await page.get_by_role("button", name="Call", exact=True).click()
        await phone.until_talking()
        await phone.until_hears(TONE_HZ)
        events = page.get_by_role("list", name="Events")
        await expect(events.get_by_text("The call is answered")).to_be_visible()
        await phone.button("Hang up").first.click()
        await expect(events.get_by_text("The call has ended")).to_be_visible()
        await phone.until_idle()
    assert (await owner.rest("GET", AGENT))["phone"] == "browser"
    await owner.rest("DELETE", AGENT)
