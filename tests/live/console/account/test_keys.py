"""The pages of keys and of the audit trail."""

from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page
from tests.harness.console.people import Person, with_key
from tests.harness.until import until

PATH = "/console/keys"
AUDIT = "/console/audit"


async def test_a_key_is_created_rotated_and_revoked(
    browser: Browser, owner: Person, other: Person
) -> None:
    """Its secret is shown once; it signs in until it is revoked."""
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New key").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Rights").select_option("single")
        await dialog.get_by_label("agents:read").check()
        await dialog.get_by_label("Networks").fill("192.0.2.0/99")
        await dialog.get_by_role("button", name="Create").click()
        await expect(dialog.get_by_label("Networks")).to_have_attribute("aria-invalid", "true")
        await expect(dialog.get_by_label("agents:read")).to_be_checked()
        await dialog.get_by_label("Networks").fill("")
        await dialog.get_by_role("button", name="Create").click()
        values = dialog.locator(".secret code")
        await expect(values).to_have_count(2)
        api_key, api_secret = await values.all_text_contents()
        await dialog.get_by_role("button", name="Close").click()
        await expect(values).to_have_count(0)
        await expect(page.get_by_text(api_secret)).to_have_count(0)  # hidden text counts, too
        key_id = api_key.split("_")[1]
        row = page.get_by_role("row").filter(has_text=key_id)
        await expect(row).to_contain_text("agents:read")
        newcomer = with_key(owner, api_key, api_secret)
        async with console_page(browser, newcomer) as theirs:
            names = theirs.get_by_role("navigation", name="Pages").get_by_role("link")
            await expect(names).to_have_text(["Agents"])
        await row.get_by_role("button", name="Rotate").click()
        await dialog.get_by_label("Seconds").fill("0")
        await dialog.get_by_role("button", name="Rotate").click()
        await expect(values).to_have_count(2)
        rotated = str(await values.first.text_content()).split("_")[1]
        await dialog.get_by_role("button", name="Close").click()
        await expect(row).to_contain_text("expired")
        await page.get_by_role("button", name=f"Revoke {rotated}").click()
        await dialog.get_by_role("button", name="Revoke").click()
        await expect(page.get_by_text("The key is revoked")).to_be_visible()
        await page.get_by_text("Bundles and scopes").click()
        await expect(page.get_by_role("cell", name="integrator").last).to_be_visible()
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_role("row")).to_have_count(2)


async def test_the_audit_trail_shows_who_did_what(
    browser: Browser, owner: Person, other: Person
) -> None:
    """Filtered by the action; another account sees its own rows."""
    for person, agent in ((owner, "1001"), (other, "2002")):
        await person.rest(
            "PUT", f"/srmain/voice/agents/{agent}", {"endpoint": person.endpoint(agent)}
        )

    async def are_added() -> bool:  # within a second
        pages = [await each.rest("GET", "/srmain/audit") for each in (owner, other)]
        return all(any(row["action"].startswith("PUT") for row in each["data"]) for each in pages)

    await until(are_added, what="the rows")
    async with console_page(browser, owner, path=AUDIT) as page:
        await page.get_by_label("Action").fill("PUT /srmain/voice/agents/{agentId}")
        row = page.get_by_role("row").filter(has_text="/srmain/voice/agents/1001")
        await page.get_by_role("button", name="Show").click()
        await expect(row).to_contain_text("200")
        await page.get_by_label("From").fill("2030-01-01T00:00")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("No row matches")).to_be_visible()
        async with console_page(browser, other, path=AUDIT) as theirs:
            await expect(theirs.get_by_text("/srmain/voice/agents/2002")).to_be_visible()
            await expect(theirs.get_by_text("/srmain/voice/agents/1001")).to_be_hidden()
