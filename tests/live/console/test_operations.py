"""The page of operators: the installation as it is now, and not a page of other keys."""

from pathlib import Path

import pytest
from playwright.async_api import Browser, expect

from tests.harness.api.operations.alert_server import MANAGER, AlertServer
from tests.harness.console.axe import assert_accessible
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, add_owner
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient, Api
from tests.harness.servers.engine import RequestError

PATH = "/console/operations"
SCOPES = {"SWITCHROOM_ACCOUNT_SCOPES": '["owner", "operations"]'}
PAUSE = {"type": "pause", "data": {"length": 60}}
POLLED_MS = 15_000


async def test_the_installation_is_shown_as_it_changes(
    browser: Browser, api: AccountClient, lab: Lab
) -> None:
    """Node, engine, shards, store, audio and checks; a new call is counted without a reload."""
    async with console_page(browser, api, path=PATH) as page:
        node = page.get_by_role("region", name="PBX nodes").get_by_role("row").nth(1)
        await expect(node).to_contain_text("takes calls")
        engine = page.get_by_role("region", name="Engines").get_by_role("row").nth(1)
        await expect(engine).to_contain_text("ready")
        await expect(engine).to_contain_text(lab.engine.url)
        shard = page.get_by_role("region", name="Shards").get_by_role("row").nth(1)
        await expect(shard).to_contain_text("runs")
        calls = page.locator(".figure").filter(has_text="live calls").locator("b")
        await expect(calls).to_have_text("0")
        servers = page.get_by_role("region", name="Servers of the store")
        await expect(servers.get_by_role("row").nth(1)).to_contain_text("primary")
        await expect(page.get_by_role("region", name="Audio cache")).to_be_visible()
        await expect(page.get_by_text("SWITCHROOM_ALERTS_URL is not set")).to_be_visible()
        checks = page.get_by_role("region", name="Results of the checks")
        await expect(checks.get_by_role("row").nth(1)).to_be_visible()
        code = checks.get_by_role("link").first
        async with Phone.answering(lab.trunk_port):
            call = await lab.call(to="+15550100", account="acme", action=PAUSE)
            await expect(calls).to_have_text("1", timeout=POLLED_MS)
            assert call not in await page.content()
            await lab.engine.rpc("POST", f"/calls/{call}/hangup", {})
        await expect(calls).to_have_text("0", timeout=POLLED_MS)
        address = await code.get_attribute("href")
        assert address is not None
        await assert_accessible(page)
        await page.set_viewport_size({"width": 390, "height": 844})
        await assert_accessible(page)
        await page.goto(api.url + address)
        await expect(page.get_by_role("heading", level=1)).to_contain_text(
            address.rpartition("/")[2]
        )


async def test_a_node_is_drained_by_keyboard(
    browser: Browser, api: AccountClient, lab: Lab
) -> None:
    """After a question, which can be cancelled; new calls are rejected until it is undrained."""
    async with console_page(browser, api, path=PATH) as page:
        node = page.get_by_role("region", name="PBX nodes").get_by_role("row").nth(1)
        dialog = page.get_by_role("dialog")
        await page.get_by_role("button", name="Drain pbx1").press("Enter")
        await expect(dialog.get_by_role("heading", name="Drain pbx1?")).to_be_visible()
        await assert_accessible(page)
        await page.keyboard.press("Escape")
        await expect(dialog).to_be_hidden()
        await expect(node).to_contain_text("takes calls")
        await page.get_by_role("button", name="Drain pbx1").press("Enter")
        await dialog.get_by_role("button", name="Drain").press("Enter")
        await expect(page.get_by_text("pbx1 gets no new calls.")).to_be_visible()
        await expect(node).to_contain_text("drained")
        with pytest.raises(RequestError, match="node_drained"):
            await lab.call(to="+15550100", account="acme", action=PAUSE)
        await page.get_by_role("button", name="Undrain pbx1").click()
        await dialog.get_by_role("button", name="Undrain").click()
        await expect(node).to_contain_text("takes calls")


async def test_an_engine_that_is_away(browser: Browser, api: AccountClient, lab: Lab) -> None:
    """The page says so, keeps what it has read, and continues when the engine is back."""
    async with console_page(browser, api, path=PATH) as page:
        node = page.get_by_role("region", name="PBX nodes").get_by_role("row").nth(1)
        await expect(node).to_contain_text("takes calls")
        await lab.engine.kill()
        await expect(page.get_by_role("alert").first).to_contain_text(
            "no_engine", timeout=POLLED_MS
        )
        await expect(node).to_be_visible()
        await lab.ensure_running()
        await expect(page.get_by_role("alert")).to_have_count(0, timeout=4 * POLLED_MS)
        await expect(node).to_contain_text("takes calls", timeout=POLLED_MS)


async def test_alerts_link_to_their_runbook(browser: Browser, lab: Lab, tmp_path: Path) -> None:
    """Markup in an alert is text, and an address that is no web page is no link."""
    page_of_alert = "https://docs.example.com/operations/runbook/#switchroomenginedown"
    server = AlertServer({
        MANAGER: [
            {
                "labels": {"alertname": "SwitchroomEngineDown", "severity": "page"},
                "annotations": {"summary": MARKUP, "runbook_url": page_of_alert},
                "startsAt": "2026-11-27T09:00:00Z",
            },
            {
                "labels": {"alertname": MARKUP, "severity": "ticket"},
                "annotations": {"summary": "x", "runbook_url": "javascript:alert(1)"},
                "startsAt": "2026-11-27T09:00:00Z",
            },
        ]
    })  # fmt: skip
    settings = SCOPES | {"SWITCHROOM_ALERTS_URL": server.url}
    async with (
        server.running(),
        Api(tmp_path / "api2", engines=[lab.engine], settings=settings) as api,
        console_page(browser, api, path=PATH) as page,
    ):
        alerts = page.get_by_role("region", name="Alerts")
        link = alerts.get_by_role("link", name="SwitchroomEngineDown")
        await expect(link).to_have_attribute("href", page_of_alert)
        await expect(alerts.get_by_role("row").nth(1)).to_contain_text(MARKUP)
        await expect(alerts.get_by_role("row").nth(2)).to_contain_text(MARKUP)
        await expect(alerts.get_by_role("link")).to_have_count(1)
        await assert_accessible(page)


async def test_customers_and_agents_have_no_such_page(browser: Browser, api: AccountClient) -> None:
    """An owner of the account, and an agent of an operator: no entry in the menu, and 403."""
    owner = await add_owner(api)
    for person, agent in ((owner, ""), (api, "1001")):
        async with console_page(browser, person, agent=agent) as page:
            await expect(page.get_by_role("link", name="Live calls")).to_be_visible()
            await expect(page.get_by_role("link", name="Operations")).to_have_count(0)
            answer = await page.goto(api.url + PATH)
            assert answer is not None
            assert answer.status == 403
            await expect(page.get_by_role("heading", name="Not allowed")).to_be_visible()
