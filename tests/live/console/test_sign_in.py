"""Signing in to the console, in a real browser."""

import pytest
from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page, sign_in
from tests.harness.servers.api import AccountClient


async def test_a_wrong_secret_is_said_in_the_form(browser: Browser, api: AccountClient) -> None:
    """The person stays at the form, and reads why."""
    page = await browser.new_page()
    await page.goto(f"{api.url}/console/calls?state=bridged")
    await page.get_by_label("API key").fill(api.api_key)
    await page.get_by_label("API secret").fill("wrong")
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("alert")).to_contain_text("do not belong together")
    await page.get_by_label("API secret").fill(api.api_secret)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Live calls")).to_be_visible()
    assert page.url.endswith("/console/calls?state=bridged")
    await page.close()


@pytest.mark.parametrize("address", ["//example.com/console", "http://["])
async def test_an_address_of_another_site_is_not_followed(
    browser: Browser, api: AccountClient, address: str
) -> None:
    """After signing in, `next` leads to pages of the console only."""
    page = await browser.new_page()
    await page.goto(f"{api.url}/console/sign-in?next={address}")
    await page.get_by_label("API key").fill(api.api_key)
    await page.get_by_label("API secret").fill(api.api_secret)
    await page.get_by_role("button", name="Sign in").click()
    await expect(page.get_by_role("heading", name="Live calls")).to_be_visible()
    assert page.url.startswith(api.url)
    await page.close()


async def test_an_agent_has_the_rights_of_an_agent(browser: Browser, api: AccountClient) -> None:
    """Who names an agent beside the key acts for that agent only."""
    page = await browser.new_page()
    await sign_in(page, api, agent="1001")
    await expect(page.get_by_role("heading", name="Live calls")).to_be_visible()
    names = page.get_by_role("navigation", name="Pages").get_by_role("link")
    await expect(names.filter(has_text="Records")).to_have_count(1)
    await expect(names.filter(has_text="Keys")).to_have_count(0)
    await page.close()


async def test_signing_out_ends_the_session(browser: Browser, api: AccountClient) -> None:
    """The page before is not shown again."""
    async with console_page(browser, api) as page:
        await page.get_by_role("button", name="Sign out").click()
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()
        await page.goto(f"{api.url}/console/calls")
        await expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


async def test_an_address_with_a_key_signs_in(browser: Browser, api: AccountClient) -> None:
    """As `switchroom dev` prints it: without a click, and the history keeps no secret."""
    page = await browser.new_page()
    await page.goto(f"{api.url}/console/sign-in#{api.api_key}:{api.api_secret}")
    await expect(page.get_by_role("heading", name="Live calls")).to_be_visible()
    await page.go_back()
    assert page.url == f"{api.url}/console/sign-in"
    await page.close()


async def test_the_theme_is_kept(browser: Browser, api: AccountClient) -> None:
    """The choice applies to the next page, too."""
    async with console_page(browser, api, color_scheme="light") as page:
        light = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        await page.get_by_label("Theme").select_option("dark")
        await page.reload()
        dark = await page.evaluate("getComputedStyle(document.body).backgroundColor")
        assert light != dark
