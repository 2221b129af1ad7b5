"""Pages of an account with content, and their forms, by axe-core in both themes."""

from playwright.async_api import Browser, Page, expect

from tests.harness.console.axe import assert_accessible_in_both_themes
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person

# A page, what it shows when it has content, and the button that opens its form.
PAGES = {
    "records": ("No record matches", "Export what is filtered"),
    "agents": (MARKUP, "New agent"),
    "contacts": ("There is no list", "Upload a file"),
    "dnc": ("There is no entry", "Add a number"),
    "templates": ("No template matches", "New template"),
    "callbacks": ("http://127.0.0.1:9/events", "Edit"),
    "webhooks": ("Show new attempts as they happen", ""),
    "keys": ("owner", "New key"),
    "audit": ("PUT /srmain/voice/agents/{agentId}", ""),
    "usage": ("The operator sets them", "Edit settings"),
}


async def test_pages_with_content_break_no_rule(browser: Browser, owner: Person) -> None:
    """Each page, and its form."""
    await fill(owner)
    async with console_page(browser, owner) as page:
        for name, (content, button) in PAGES.items():
            await page.goto(f"{owner.url}/console/{name}")
            await expect(page.get_by_text(content).first).to_be_visible()
            await assert_accessible_in_both_themes(page)
            if button:
                await check_form(page, button)


async def check_form(page: Page, button: str) -> None:
    """Open a form, and check it."""
    await page.get_by_role("button", name=button, exact=True).click()
    await expect(page.get_by_role("dialog")).to_be_visible()
    await assert_accessible_in_both_themes(page)


async def fill(owner: Person) -> None:
    """Create what the pages show."""
    agent = {"endpoint": owner.endpoint("1001"), "name": MARKUP}
    await owner.rest("PUT", "/srmain/voice/agents/1001", agent)
    await owner.rest("PUT", "/srmain/voice/callbacks", {"target": "http://127.0.0.1:9/events"})
