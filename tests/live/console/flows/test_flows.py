"""The page of flows: edited beside their graphs, checked, published, run and rolled back."""

import re
from typing import Any

from playwright.async_api import Browser, Page, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.editor import editor, replace_text
from tests.harness.console.people import MARKUP, Person, add_owner
from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient

PATH, FLOW, NAME = "/console/flows", "/srmain/voice/flows/support", "Flow support"
FIRST_HZ, SECOND_HZ = 500, 700
ERROR_MARK = ".cm-lintRange-error"
# While its options are out of date, a list of completions takes no keys.
COMPLETIONS = ".cm-tooltip-autocomplete:not(.cm-tooltip-autocomplete-disabled)"
BAD_NODE = re.compile(r"\bbad\b")


def flow_of(address: str, next_node: str = "bye") -> dict[str, Any]:
    """Return a flow that plays audio, and hangs up."""
    return {
        "start": "tone",
        "nodes": {
            "tone": {"type": "play", "data": {"audioUrl": address}, "next": next_node},
            "bye": {"type": "hangup"},
        },
    }


async def test_an_error_is_marked_fixed_and_a_real_call_runs_the_version(
    browser: Browser, api: AccountClient, lab: Lab, sounds: MediaServer
) -> None:
    """A draft is run by no call; publishing it is, and an earlier version is published again."""
    owner = await add_owner(api)
    await owner.rest("PUT", FLOW, flow_of(sounds.tone(FIRST_HZ, 400)))
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("link", name="support").click()
        await expect(page.get_by_text("No errors.")).to_be_visible()
        second = sounds.tone(SECOND_HZ, 400)
        await replace_text(page, NAME, flow_of(second, next_node="nowhere"))
        await expect(page.get_by_role("status").filter(has_text="nodes.tone.next")).to_be_visible()
        await expect(page.locator(ERROR_MARK).filter(has_text='"nowhere"')).to_be_visible()
        await expect(page.locator('[data-node="tone"]')).to_have_class(BAD_NODE)
        await expect(page.locator('[data-node="nowhere"]')).to_have_class(BAD_NODE)
        await page.get_by_role("button", name="Save draft").click()
        await expect(page.get_by_role("alert")).to_contain_text("unknown_node")
        await replace_text(page, NAME, flow_of(second))
        await expect(page.get_by_text("No errors.")).to_be_visible()
        await expect(page.locator(ERROR_MARK)).to_have_count(0)
        await page.get_by_role("button", name="Save draft").click()
        await expect(page.get_by_text("Version 2 is saved as a draft.")).to_be_visible()
        await assert_heard(lab, owner, FIRST_HZ)
        await page.get_by_role("button", name="Publish", exact=True).click()
        await expect(page.get_by_text("Version 2 is published")).to_be_visible()
        await assert_heard(lab, owner, SECOND_HZ)
        await page.get_by_role("button", name="Compare version 1").click()
        changed = page.get_by_role("row").filter(has_text="nodes.tone.data.audioUrl")
        await expect(changed).to_contain_text("changed")
        await page.get_by_role("button", name="Publish version 1").click()
        await expect(page.get_by_text("Version 1 is published")).to_be_visible()
        assert (await owner.rest("GET", FLOW))["number"] == 1
        await assert_heard(lab, owner, FIRST_HZ)


async def assert_heard(lab: Lab, owner: Person, tone_hz: int) -> None:
    """Start a call that runs the flow, and check what its phone hears."""
    async with Phone.answering(lab.trunk_port) as phone:
        request = {"from": owner.api.number, "to": phone.address, "flowId": "support"}
        await owner.rest("POST", "/srmain/voice/call", request)
        await phone.until_heard(tone_hz)
        await phone.wait_ended()


async def test_the_graph_and_the_text_lead_to_each_other(
    browser: Browser, api: AccountClient
) -> None:
    """By pointer and by keyboard; markup in a text is shown as text."""
    owner = await add_owner(api)
    flow = flow_of("https://example.com/a.wav", next_node="words")
    flow["nodes"]["words"] = {"type": "say", "data": {"text": MARKUP}, "next": "bye"}
    await owner.rest("PUT", FLOW, flow)
    async with console_page(browser, owner, path=f"{PATH}?id=support") as page:
        words = page.locator('[data-node="words"]')
        await expect(words).to_contain_text(MARKUP)
        assert await page.locator("flow-graph img").count() == 0
        await words.click()
        await expect(editor(page, NAME)).to_be_focused()
        await expect(words).to_have_class(re.compile("selected"))
        await page.locator('[data-node="tone"]').focus()
        await page.keyboard.press("ArrowDown")
        await expect(words).to_be_focused()
        await page.keyboard.press("ArrowDown")
        await page.keyboard.press("Enter")
        await expect(page.locator('[data-node="bye"]')).to_have_class(re.compile("selected"))
        width = await page.locator("svg.graph").get_attribute("width")
        await page.get_by_role("button", name="Zoom out").click()
        assert await page.locator("svg.graph").get_attribute("width") != width
        await assert_accessible(page)
        await page.set_viewport_size({"width": 390, "height": 844})
        await assert_no_overflow(page)
        await assert_accessible(page)


async def assert_no_overflow(page: Page) -> None:
    """Check that a small screen scrolls in one direction only."""
    assert await page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


async def test_the_editor_completes_from_the_schema_and_is_left_by_keyboard(
    browser: Browser, api: AccountClient
) -> None:
    """A node comes with its required fields; names of nodes are proposed where one is named."""
    owner = await add_owner(api)
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New flow").click()
        await page.get_by_label("Id (required)").fill("a support")
        await page.get_by_role("button", name="Edit").click()
        await expect(page.get_by_text("expected 1 to 64 letters, digits")).to_be_visible()
        await page.get_by_label("Id (required)").fill("support")
        await page.get_by_role("button", name="Edit").click()
        await expect(page.get_by_text("No errors.")).to_be_visible()
        await replace_text(page, NAME, '{"start": "a", "nodes": {"a": ')
        await expect(page.get_by_text("Line 1: ")).to_be_visible()
        await page.keyboard.press("Control+Space")
        await expect(page.get_by_role("option", name="hangup")).to_be_visible()
        await page.keyboard.type("goto")
        await expect(page.locator(COMPLETIONS).get_by_role("option")).to_contain_text(["goto"])
        await page.keyboard.press("Enter")
        await expect(editor(page, NAME)).to_contain_text('"node": ""')
        await page.keyboard.press("Control+End")
        await page.keyboard.insert_text("}}")
        await expect(page.get_by_role("button", name="nodes.a.node")).to_be_visible()
        await page.get_by_role("button", name="nodes.a.node").click()
        await page.keyboard.press("Control+Space")
        await expect(page.get_by_role("option").filter(has_text="goto")).to_be_visible()
        await page.keyboard.press("Escape")
        await page.keyboard.press("Escape")
        await page.keyboard.press("Tab")
        await expect(editor(page, NAME)).not_to_be_focused()


async def test_a_change_of_somebody_else_is_not_overwritten(
    browser: Browser, api: AccountClient
) -> None:
    """It is shown, and my text can still become the next version."""
    owner = await add_owner(api)
    await owner.rest("PUT", FLOW, flow_of("https://example.com/a.wav"))
    async with console_page(browser, owner, path=f"{PATH}?id=support") as page:
        await expect(page.get_by_text("No errors.")).to_be_visible()
        await owner.rest("PUT", FLOW, flow_of("https://example.com/theirs.wav"))
        await replace_text(page, NAME, flow_of("https://example.com/mine.wav"))
        await page.get_by_role("button", name="Publish", exact=True).click()
        await expect(page.get_by_text("Somebody else has changed this flow")).to_be_visible()
        await page.get_by_role("button", name="Show what they changed").click()
        await expect(page.get_by_role("cell", name="theirs.wav")).to_be_visible()
        await expect(editor(page, NAME)).to_contain_text("mine.wav")
        await page.get_by_role("button", name="Save mine as the next version").click()
        await expect(
            page.get_by_text(re.compile(r"Version \d+ is saved as a draft"))
        ).to_be_visible()
        latest = (await owner.rest("GET", f"{FLOW}/versions"))["data"][0]["number"]
        found = await owner.rest("GET", f"{FLOW}/versions/{latest}")
        assert found["document"] == flow_of("https://example.com/mine.wav")


async def test_a_text_that_is_not_saved_is_not_left_by_accident(
    browser: Browser, api: AccountClient
) -> None:
    """The browser asks first; a text that is saved is left at once."""
    owner = await add_owner(api)
    await owner.rest("PUT", FLOW, flow_of("https://example.com/a.wav"))
    async with console_page(browser, owner, path=f"{PATH}?id=support") as page:
        await expect(page.get_by_text("No errors.")).to_be_visible()
        kinds: list[str] = []

        async def refuse(dialog: Any) -> None:
            kinds.append(dialog.type)
            await dialog.dismiss()

        page.on("dialog", refuse)
        await replace_text(page, NAME, flow_of("https://example.com/b.wav"))
        await expect(page.get_by_text("not saved")).to_be_visible()
        await page.get_by_role("link", name="Live calls").click()
        await expect(editor(page, NAME)).to_contain_text("b.wav")
        assert kinds == ["beforeunload"]
        await page.get_by_role("button", name="Discard changes").click()
        await expect(editor(page, NAME)).to_contain_text("a.wav")
        await page.get_by_role("link", name="Live calls").click()
        await expect(page.get_by_role("heading", name="Live calls")).to_be_visible()
