"""The page of agents."""

from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person

PATH = "/console/agents"
AGENT = "/srmain/voice/agents/1001"


async def test_an_agent_is_created_changed_and_deleted(
    browser: Browser, owner: Person, other: Person
) -> None:
    """With a password of its phone, a name with markup, and nothing for another account."""
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("There is no agent yet")).to_be_visible()
        await page.get_by_role("button", name="New agent").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Id (required)").fill("1001")
        await dialog.get_by_label("Name").fill(MARKUP)
        await dialog.get_by_label("Endpoint").fill("SIP/7001")
        await dialog.get_by_role("button", name="Create").click()
        await expect(dialog.get_by_label("Endpoint")).to_have_attribute("aria-invalid", "true")
        await expect(dialog.get_by_text("expected an endpoint such as PJSIP/1001")).to_be_visible()
        await expect(dialog.get_by_label("Name")).to_have_value(MARKUP)
        await dialog.get_by_label("Endpoint").fill(f"PJSIP/{owner.api.account}-7001a")
        await dialog.get_by_role("button", name="Create").click()
        row = page.get_by_role("row").filter(has_text=f"PJSIP/{owner.api.account}-7001a")
        await expect(row).to_contain_text(MARKUP)
        await expect(row).to_contain_text("unknown")  # to the PBX
        await row.get_by_role("button", name="Edit").click()
        await dialog.get_by_label("Name").fill("Ada")
        await dialog.get_by_label("Phone").select_option("browser")
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("Ada")
        await expect(row).to_contain_text("browser")
        await expect(row.get_by_role("button", name="Password")).to_be_hidden()
        await row.get_by_role("button", name="Edit").click()
        await expect(dialog.get_by_label("Phone")).to_have_value("browser")
        await dialog.get_by_role("button", name="Cancel").click()
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("There is no agent yet")).to_be_visible()
        await row.get_by_role("button", name="Delete Ada").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("There is no agent yet")).to_be_visible()
        assert (await owner.rest("GET", "/srmain/voice/agents"))["total"] == 0


async def test_an_agent_gets_an_endpoint_of_its_own(browser: Browser, owner: Person) -> None:
    """Without one in the form, so it need not be known what an endpoint is."""
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New agent").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Id (required)").fill("ada")
        await dialog.get_by_label("Phone").select_option("browser")
        await dialog.get_by_role("button", name="Create").click()
        await expect(page.get_by_role("row").filter(has_text="browser")).to_contain_text("ada")
    shown = await owner.rest("GET", "/srmain/voice/agents/ada")
    assert shown["endpoint"] == f"PJSIP/{owner.api.account}-ada"


async def test_a_change_that_somebody_else_has_made_is_not_overwritten(
    browser: Browser, owner: Person
) -> None:
    """The dialog keeps what was typed, and loads the current version if that is wanted."""
    await owner.rest("PUT", AGENT, {"endpoint": owner.endpoint("7002"), "name": "Ada"})
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="Edit Ada").click()
        dialog = page.get_by_role("dialog")
        await owner.rest("PUT", AGENT, {"endpoint": owner.endpoint("7002"), "name": "Grace"})
        await dialog.get_by_label("Name").fill("Ada Lovelace")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_text("Somebody else has changed this")).to_be_visible()
        await expect(dialog.get_by_label("Name")).to_have_value("Ada Lovelace")
        await dialog.get_by_role("button", name="Load the current version").click()
        await expect(dialog.get_by_label("Name")).to_have_value("Grace")
        await dialog.get_by_label("Name").fill("Grace Hopper")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_role("row").filter(has_text="Grace Hopper")).to_be_visible()
        await page.get_by_role("button", name="Password of Grace Hopper").click()
        await dialog.get_by_label("Password").fill("short")
        await dialog.get_by_role("button", name="Set password").click()
        await expect(dialog.get_by_label("Password")).to_have_attribute("aria-invalid", "true")
