"""The playground: a tree or flow is written, a phone is called, and the events are shown."""

from playwright.async_api import Browser, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.editor import replace_text
from tests.harness.console.people import Person, add_owner
from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient

PATH, NAME = "/console/playground", "Tree or flow"
TONE_HZ, FLOW_HZ = 600, 800
SAMPLES = ("say", "gather", "dial", "record", "menu", "condition")


async def test_a_tree_and_a_flow_are_called_and_their_events_shown(
    browser: Browser, api: AccountClient, lab: Lab, sounds: MediaServer
) -> None:
    """A real phone at the trunk hears each; the page hangs the second call up."""
    owner = await add_owner(api)
    tree = {"type": "play", "data": {"audioUrl": sounds.tone(TONE_HZ, 400)}}
    play = {"type": "play", "data": {"audioUrl": sounds.tone(FLOW_HZ, 400), "loop": 100}}
    async with (
        console_page(browser, owner, path=PATH) as page,
        Phone.answering(lab.trunk_port) as phone,
    ):
        events = page.get_by_role("list", name="Events")
        await replace_text(page, NAME, tree)
        await page.locator("select[name=kind]").select_option("number")
        await page.get_by_label("Number", exact=True).fill(phone.address)
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(events.get_by_text("The call is answered", exact=True)).to_be_visible()
        await phone.until_heard(TONE_HZ)
        await expect(events.get_by_text("The call has ended", exact=True)).to_be_visible()
        await expect(page.get_by_text("ended", exact=True)).to_be_visible()
        await assert_accessible(page)
    async with (
        console_page(browser, owner, path=PATH) as page,
        Phone.answering(lab.trunk_port) as phone,
    ):
        await replace_text(page, NAME, {"start": "a", "nodes": {"a": play}})
        await page.locator("select[name=kind]").select_option("number")
        await page.get_by_label("Number", exact=True).fill(phone.address)
        await page.get_by_role("button", name="Call", exact=True).click()
        await phone.until_heard(FLOW_HZ)
        await page.get_by_role("button", name="Hang up").click()
        await phone.wait_ended()
        await expect(page.get_by_text("ended", exact=True)).to_be_visible()
        stored = await owner.rest("GET", "/srmain/voice/flows/playground")
        assert stored["document"]["nodes"]["a"]["data"]["loop"] == 100


async def test_each_sample_is_right_and_what_is_wrong_is_not_called(
    browser: Browser, api: AccountClient
) -> None:
    """An engine accepts the samples as they are; a call that it rejects is not started."""
    owner = await add_owner(api)
    async with console_page(browser, owner, path=PATH) as page:
        for each in SAMPLES:
            await page.get_by_label("Start from").select_option(each)
            await expect(page.get_by_text("No errors.")).to_be_visible()
        await replace_text(page, NAME, '{"type": "sayy"}')
        await expect(page.get_by_role("status").filter(has_text="unknown_verb")).to_be_visible()
        await page.locator("select[name=kind]").select_option("number")
        await page.get_by_label("Number", exact=True).fill("+15550100")
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text("unknown_verb")
        await replace_text(page, NAME, '{"type"')
        await page.get_by_role("button", name="Call", exact=True).click()
        await expect(page.get_by_role("alert")).to_contain_text("The text is not valid")


async def test_a_key_for_calls_alone_calls_without_checks(
    browser: Browser, api: AccountClient, lab: Lab, sounds: MediaServer
) -> None:
    """The page says which scope the check needs; numbers are typed, and the call is started."""
    owner = await add_owner(api)
    key = await owner.rest("POST", "/srmain/keys", {"scopes": ["calls"]})
    caller = Person(api, api.account, api.url, key["apiKey"], key["apiSecret"])
    tree = {"type": "play", "data": {"audioUrl": sounds.tone(TONE_HZ, 400)}}
    async with (
        console_page(browser, caller, path=PATH) as page,
        Phone.answering(lab.trunk_port) as phone,
    ):
        await replace_text(page, NAME, tree)
        await expect(page.get_by_role("alert")).to_contain_text("routes:read")
        await expect(page.get_by_role("option", name="this browser")).to_have_count(0)
        await page.get_by_label("Number", exact=True).fill(phone.address)
        await page.get_by_label("Shown number").fill(api.number)
        await page.get_by_role("button", name="Call", exact=True).click()
        await phone.until_heard(TONE_HZ)
