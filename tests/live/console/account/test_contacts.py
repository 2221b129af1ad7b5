"""The pages of contact lists and their contacts."""

from pathlib import Path

from playwright.async_api import Browser, Page, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page, read_download
from tests.harness.console.people import MARKUP, Person

PATH = "/console/contacts"
FILE = f"Phone;First name;Surname;City\n+4722222222;Nina;{MARKUP};Oslo\n12;Ola;Li;<b>Bo</b>\n"


async def upload(page: Page, folder: Path) -> None:
    """Upload the file as a new list, which opens its page."""
    file = folder / "people.csv"
    file.write_text(FILE)
    await page.get_by_role("button", name="Upload a file").click()
    dialog = page.get_by_role("dialog")
    await dialog.get_by_label("File").set_input_files(file)
    await dialog.get_by_label("Name").fill(MARKUP)
    await dialog.get_by_role("button", name="Upload", exact=True).click()
    await expect(page.get_by_role("heading", name=MARKUP)).to_be_visible()


async def test_a_file_becomes_a_list(
    browser: Browser, owner: Person, other: Person, tmp_path: Path
) -> None:
    """With a preview, a mapping of its columns, the progress, and the rejected rows."""
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("There is no list")).to_be_visible()
        await upload(page, tmp_path)
        preview = page.get_by_role("region", name="Preview of the file")
        await expect(preview.get_by_role("cell", name=MARKUP)).to_be_visible()
        await expect(preview.get_by_label("Field of the column Surname")).to_have_value("lName")
        number = preview.get_by_label("Field of the column Phone")
        await number.select_option("")
        await page.get_by_role("button", name="Import").click()
        await expect(page.get_by_role("alert")).to_contain_text("Choose the column")
        await number.select_option("phoneNumber")
        await preview.get_by_label("Field of the column City").select_option("new:City")
        await page.get_by_role("button", name="Import").click()
        await expect(page.get_by_text("Last import: 1 added")).to_be_visible(timeout=20_000)
        async with page.expect_download() as rejected:
            await page.get_by_role("button", name="Download the rejected rows").click()
        assert "<b>Bo</b>" in await read_download(await rejected.value)
        row = page.get_by_role("region", name="Contacts").get_by_role("row").filter(has_text="Nina")
        await expect(row).to_contain_text(MARKUP)
        await expect(row).to_contain_text("Oslo")
        url = page.url
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("There is no list")).to_be_visible()
            await theirs.goto(url)
            await expect(theirs.get_by_role("alert")).to_contain_text("not_found")
        await page.goto(f"{owner.url}{PATH}?fName=ni")
        await expect(page.get_by_role("cell", name="+4722222222")).to_be_visible()
        await page.goto(owner.url + PATH)
        await page.get_by_role("button", name=f"Delete {MARKUP}").click()
        await page.get_by_role("dialog").get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("There is no list")).to_be_visible()


async def test_contacts_are_added_tagged_exported_and_deleted(
    browser: Browser, owner: Person
) -> None:
    """In a list without a file."""
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New list without a file").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Callers")
        await dialog.get_by_label("Own fields").fill("city")
        await dialog.get_by_role("button", name="Create").click()
        await page.get_by_role("button", name="New contact").click()
        await dialog.get_by_label("Number").fill("12")
        await dialog.get_by_label("First name").fill(MARKUP)
        await dialog.get_by_label("city").fill("Oslo")
        await dialog.get_by_role("button", name="Create").click()
        await expect(dialog.get_by_label("Number")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Number").fill("+4722222222")
        await dialog.get_by_role("button", name="Create").click()
        row = page.get_by_role("row").filter(has_text=MARKUP)
        await expect(row).to_contain_text("Oslo")
        await page.get_by_role("button", name="Change tags of all").click()
        await dialog.get_by_label("Add the tag").fill("<b>vip</b>")
        await dialog.get_by_role("button", name="Change").click()
        await expect(row).to_contain_text("<b>vip</b>")
        await page.get_by_label("Tags", exact=True).fill("other")
        await page.get_by_role("button", name="Show").click()
        await expect(page.get_by_text("No contact matches")).to_be_visible()
        await page.get_by_role("button", name="Clear").click()
        await page.get_by_role("button", name="Tags", exact=True).click()
        await dialog.get_by_label("Tags").fill("north\nsouth")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("south")).to_be_visible()
        await page.get_by_role("button", name="Export").click()
        await dialog.get_by_role("button", name="Start").click()
        async with page.expect_download() as file:
            await page.get_by_role("button", name="Download csv").click()
        assert MARKUP in await read_download(await file.value)
        await row.get_by_role("button", name="Edit").click()
        await expect(dialog.get_by_label("city")).to_have_value("Oslo")
        await dialog.get_by_label("First name").fill("Nina")
        await dialog.get_by_role("button", name="Save").click()
        await page.get_by_role("button", name="Delete Nina").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No contact matches")).to_be_visible()


async def test_a_list_with_a_file_breaks_no_rule(
    browser: Browser, owner: Person, tmp_path: Path
) -> None:
    """In both themes, on a small screen, and no wider than that."""
    screen = {"width": 390, "height": 844}
    async with console_page(browser, owner, path=PATH, viewport=screen) as page:
        await upload(page, tmp_path)
        await expect(page.get_by_role("region", name="Preview of the file")).to_be_visible()
        assert await page.evaluate("document.documentElement.scrollWidth") <= screen["width"]
        await assert_accessible(page)
        await page.get_by_label("Theme").select_option("dark")
        await assert_accessible(page)
