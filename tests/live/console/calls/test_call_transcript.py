"""The page of an ended call: what was said, once a recognizer (a simulated one) has told it."""

from playwright.async_api import Browser, expect

from tests.harness.api.transcripts.simulated_recognizer import SimulatedRecognizer
from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient

NOTE_SEEK = """each => { window.sought = new Promise((resolve) =>
  each.addEventListener("seeking", () => resolve(each.currentTime), {once: true})); }"""


async def test_a_transcript(
    browser: Browser,
    api: AccountClient,
    lab: Lab,
    parties: Parties,
    recognizer: SimulatedRecognizer,
) -> None:
    """The page says that it is being made, then shows it; an utterance is played when chosen."""
    setting = {"transcripts": {"recognizer": "double"}}
    await api.request("PATCH", "/srmain/account", setting, token=api.api_key)
    recognizer.mode = "late"
    recognizer.may_end.clear()
    source = await parties.add_phone("source")
    dial = {"type": "dial", "data": {"number": source.address}}
    number = await lab.add_number(dial, account=api.account, recordCall=True)
    customer = await parties.call_in(number)
    await parties.expect_audio_for(1_500, {"customer": "source", "source": "customer"})
    await customer.hang_up()
    async with console_page(browser, api, path=f"/console/calls/{parties.call}") as page:
        transcript = page.locator("call-transcript")
        await expect(transcript).to_contain_text("The recording is being transcribed.")
        recognizer.may_end.set()
        table = page.get_by_role("table", name="Transcript")
        await expect(table.locator("tbody tr")).to_have_count(2)
        await expect(table).to_contain_text("first leg")
        await expect(table).to_contain_text("others")
        await assert_accessible(page)
        audio = page.locator("audio")
        await audio.evaluate(NOTE_SEEK)
        await table.get_by_role("button", name="Play from 0:00").first.click()
        assert await page.evaluate("window.sought") < 0.1
        await expect(audio).to_have_js_property("paused", value=False)
