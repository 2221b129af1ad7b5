"""The page of message templates, with a simulated messaging platform."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import pytest_asyncio
from playwright.async_api import Browser, FilePayload, Route, expect

from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person, add_account, add_owner
from tests.harness.customers.msgapp import SimulatedMsgapp
from tests.harness.customers.msgapp_names import (
    APP,
    PRODUCT,
    VERSION,
    business_id,
    phone_id,
    token,
)
from tests.harness.live_lab import Lab
from tests.harness.servers.api import AccountClient, Api

PATH = "/console/templates"
PNG = b"\x89PNG\r\n\x1a\n" + b"\0" * 64
PDF = b"%PDF-1.7\n" + b"\0" * 64


ACCOUNTS = tuple(f"shop-{number}" for number in range(10))  # that the platform knows


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def shared_platform() -> AsyncIterator[SimulatedMsgapp]:
    async with SimulatedMsgapp() as platform:
        yield platform


@pytest.fixture
def platform(shared_platform: SimulatedMsgapp) -> SimulatedMsgapp:
    """Return the platform, which has received nothing."""
    shared_platform.forget()
    return shared_platform


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def layer(
    servers: Lab, shared_platform: SimulatedMsgapp, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Api]:
    """Run a REST layer that has the platform."""
    given = {
        "url": shared_platform.url(),
        "version": VERSION,
        "product": PRODUCT,
        "app_id": APP,
        "accounts": {
            each: {"business_id": business_id(each), "token": token(each)} for each in ACCOUNTS
        },
    }
    settings = {"SWITCHROOM_MSGAPP": json.dumps(given)}
    folder = tmp_path_factory.mktemp("templates") / "api"
    async with Api(folder, engines=[servers.engine], settings=settings) as layer:
        yield layer


@pytest.fixture(scope="module")
def accounts() -> Iterator[str]:
    """Return accounts that no test has used."""
    return iter(ACCOUNTS)


@pytest_asyncio.fixture(loop_scope="session")
async def api(layer: Api, accounts: Iterator[str]) -> AccountClient:
    """Add an account of this test."""
    return await add_account(layer, next(accounts))


async def test_a_template_is_created_sent_changed_and_deleted(
    browser: Browser, api: AccountClient, owner: Person, platform: SimulatedMsgapp
) -> None:
    """Its text may be markup; its status is the platform's."""
    other = await add_owner(api, other=True)
    await owner.rest("POST", "/srmain/msgapp-numbers", number_of(api))
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New template").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("Order sent")
        await dialog.get_by_label("Language").fill("en_US")
        await dialog.get_by_label("Body").fill(f"{MARKUP} for {{{{1}}}} is on its way.")
        await dialog.get_by_role("button", name="Create").click()
        await expect(dialog.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Name").fill("order_sent")
        await dialog.get_by_role("button", name="Create").click()
        row = page.get_by_role("row").filter(has_text="order_sent")
        await expect(row).to_contain_text(MARKUP)
        await assert_accessible(page)
        for each in platform.business(api.account).all.values():
            each["status"] = "APPROVED"
        await page.get_by_role("button", name="Read all statuses").click()
        await expect(row).to_contain_text("APPROVED")
        await row.get_by_role("button", name="Test").click()
        await dialog.get_by_label("To").fill("+4722222222")
        await dialog.get_by_label("Value of 1").fill("Ada")
        await dialog.get_by_role("button", name="Send").click()
        await expect(page.get_by_text("The test message is sent")).to_be_visible()
        assert len(platform.messages) == 1
        await row.get_by_role("button", name="Show").click()
        await expect(dialog.locator(".message")).to_contain_text(MARKUP)
        await dialog.get_by_role("button", name="Close").click()
        await row.get_by_role("button", name="Edit").click()
        await dialog.get_by_label("Footer").fill("Example Shop")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("The template is saved")).to_be_visible()
        await row.get_by_role("button", name="Edit").click()
        await dialog.get_by_label("Content").select_option("json")
        await dialog.get_by_label("Components").fill("[")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_label("Components")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_role("button", name="Cancel").click()
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("No template matches")).to_be_visible()
        await page.get_by_label("Name").fill("nothing")
        await page.get_by_role("button", name="Show", exact=True).first.click()
        await expect(page.get_by_text("No template matches")).to_be_visible()
        await page.get_by_role("button", name="Clear").click()
        await row.get_by_role("button", name="Delete").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("No template matches")).to_be_visible()


async def test_a_form_waits_for_the_numbers(
    browser: Browser, api: AccountClient, owner: Person
) -> None:
    """It opens when they are read: without them, somebody would have to type an id."""
    await owner.rest("POST", "/srmain/msgapp-numbers", number_of(api))
    may_go = asyncio.Event()

    async def hold(route: Route) -> None:
        await may_go.wait()
        await route.continue_()

    async with console_page(browser, owner) as page:
        await page.route("**/srmain/msgapp-numbers?*", hold)
        await page.goto(f"{owner.url}{PATH}")
        await page.get_by_role("button", name="New template").click()
        await expect(page.get_by_role("dialog")).to_have_count(0)
        may_go.set()
        number = page.get_by_role("dialog").get_by_label("Number", exact=True)
        await expect(number).to_contain_text("+4721930000")


async def test_a_header_with_a_file(
    browser: Browser, api: AccountClient, owner: Person, platform: SimulatedMsgapp
) -> None:
    """Its file is uploaded and can be replaced; a wrong one is marked, and nothing is created."""
    await owner.rest("POST", "/srmain/msgapp-numbers", number_of(api))
    templates = platform.business(api.account)
    async with console_page(browser, owner, path=PATH) as page:
        await page.get_by_role("button", name="New template").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Name").fill("order_sent")
        await dialog.get_by_label("Language").fill("en_US")
        await dialog.get_by_label("Body").fill("On its way.")
        await dialog.get_by_label("Kind of header").select_option("image")
        await expect(dialog.get_by_text("JPEG or PNG, at most 5 MiB.")).to_be_visible()
        await assert_accessible(page)
        file = dialog.get_by_label("Header's image")
        create = dialog.get_by_role("button", name="Create")
        for content, error in (
            (b"<svg onload=alert(1)>", "its content is of no known type"),
            (PNG + b"\0" * (5 << 20), "larger than 5 MiB"),
            (b"", "the file is empty"),
        ):
            await file.set_input_files(chosen("picture.png", content))
            await create.click()
            await expect(file).to_have_attribute("aria-invalid", "true")
            await expect(dialog.locator(".field-error")).to_contain_text(error)
        assert (platform.uploads, templates.all) == ({}, {})
        await file.set_input_files(chosen("picture.png", PNG))
        await dialog.get_by_label("Name").fill("Order sent")
        await create.click()
        await expect(dialog.get_by_label("Name")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Name").fill("order_sent")
        await create.click()
        await expect(page.get_by_text("The template is created")).to_be_visible()
        (image,) = platform.files  # once, though the form was sent twice
        assert platform.files[image] == PNG
        (created,) = templates.all.values()
        assert header_of(created) == ("IMAGE", f"4::{image}")

        row = page.get_by_role("row").filter(has_text="order_sent")
        await row.get_by_role("button", name="Edit").click()
        await expect(dialog.get_by_label("Kind of header")).to_have_value("image")
        await dialog.get_by_label("Body").fill("Sent.")
        await dialog.get_by_label("Kind of header").select_option("document")
        await dialog.get_by_label("Header's document").set_input_files(chosen("terms.pdf", PDF))
        await dialog.get_by_role("button", name="Save").click()
        await expect(row).to_contain_text("Sent.")
        (changed,) = templates.all.values()
        document = next(each for each in platform.files if each != image)
        assert header_of(changed) == ("DOCUMENT", f"4::{document}")
        assert [each["type"] for each in changed["components"]] == ["HEADER", "BODY"]

        await row.get_by_role("button", name="Edit").click()
        await dialog.get_by_label("Kind of header").select_option("")
        await dialog.get_by_role("button", name="Save").click()
        await expect(page.get_by_text("The template is saved")).to_be_visible()
        (changed,) = templates.all.values()
        assert [each["type"] for each in changed["components"]] == ["BODY"]


def chosen(name: str, content: bytes) -> FilePayload:
    """Return a file as a person chooses it: the browser knows its type by its name only."""
    kind = "application/pdf" if name.endswith(".pdf") else "image/png"
    return {"name": name, "mimeType": kind, "buffer": content}


def header_of(template: dict[str, Any]) -> tuple[str, str]:
    """Return the format of a template's header, and the handle of its file."""
    header = template["components"][0]
    return header["format"], header["example"]["header_handle"][0]


def number_of(api: AccountClient) -> dict[str, str]:
    """Return a messaging number of the account."""
    return {
        "businessName": "Shop",
        "phoneNumberId": phone_id(api.account),
        "businessMsgappNumber": "+4721930000",
    }
