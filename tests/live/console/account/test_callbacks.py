"""The page of status callbacks, and the webhook log."""

from playwright.async_api import Browser, expect

from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP, Person
from tests.harness.customers.webhook_server import WebhookServer, raw, status
from tests.harness.until import until

PATH = "/console/callbacks"
LOG = "/console/webhooks"
CALLBACKS = "/srmain/voice/callbacks"


async def call_unreachable_agent(owner: Person) -> None:
    """Start a call that ends at once, so that its events are sent."""
    await owner.rest("PUT", "/srmain/voice/agents/1001", {"endpoint": owner.endpoint("1001")})
    request = {"from": "agent:1001", "to": "+15550100", "statusCallbackUrl": "auto-set"}
    await owner.rest("POST", "/srmain/voice/call", request)


async def test_a_target_is_set_tested_rotated_and_deleted(
    browser: Browser, owner: Person, other: Person, hooks: WebhookServer
) -> None:
    """A secret is shown once: after the first PUT, and after a rotation."""
    target = hooks.answers("/events", None)
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("sent nowhere yet")).to_be_visible()
        await page.get_by_role("button", name="Set a target").click()
        dialog = page.get_by_role("dialog")
        await dialog.get_by_label("Target").fill("ftp://example.com")
        await dialog.get_by_role("button", name="Save").click()
        await expect(dialog.get_by_label("Target")).to_have_attribute("aria-invalid", "true")
        await dialog.get_by_label("Target").fill(target)
        await dialog.get_by_role("button", name="Save").click()
        first = await dialog.locator(".secret code").text_content()
        await dialog.get_by_role("button", name="Close").click()
        await page.get_by_role("button", name="Send a test event").click()
        await expect(page.get_by_text("The target accepted the test event")).to_be_visible()
        await page.get_by_role("button", name="Rotate the secret").click()
        await dialog.get_by_role("button", name="Rotate").click()
        await expect(dialog.get_by_role("heading", name="The secret that signs")).to_be_visible()
        second = await dialog.locator(".secret code").text_content()
        assert first
        assert second
        assert first != second
        await dialog.get_by_role("button", name="Close").click()
        await expect(page.get_by_text("Secret before")).to_be_visible()
        await expect(page.locator(".secret")).to_have_count(0)
        assert second not in await page.content()
        async with console_page(browser, other, path=PATH) as theirs:
            await expect(theirs.get_by_text("sent nowhere yet")).to_be_visible()
        await page.get_by_role("button", name="Delete").click()
        await dialog.get_by_role("button", name="Delete").click()
        await expect(page.get_by_text("sent nowhere yet")).to_be_visible()


async def test_events_that_were_given_up_are_sent_again(
    browser: Browser, owner: Person, hooks: WebhookServer
) -> None:
    """Those of a target that has returned 410, after delivery is restarted."""
    await owner.rest("PUT", CALLBACKS, {"target": hooks.answers("/events", status(410))})
    await call_unreachable_agent(owner)

    async def is_given_up() -> bool:  # the REST layer reads what engines change each second
        dead_letters = (await owner.rest("GET", f"{CALLBACKS}/dead-letters"))["data"]
        return bool(dead_letters) and (await owner.rest("GET", CALLBACKS))["stopped"]

    await until(is_given_up, what="a dead letter, and the target to be stopped")
    hooks.answers("/events", None)
    async with console_page(browser, owner, path=PATH) as page:
        await expect(page.get_by_text("stopped: it returned 410")).to_be_visible()
        await page.get_by_role("button", name="Resend ").filter(has_not_text="all").first.click()
        await expect(page.get_by_role("alert")).to_contain_text("is stopped")
        await page.get_by_role("button", name="Restart delivery").click()
        await page.get_by_role("dialog").get_by_role("button", name="Restart").click()
        await expect(page.get_by_text("stopped: it returned 410")).to_be_hidden()
        await page.get_by_role("button", name="Show ").first.click()
        dialog = page.get_by_role("dialog")
        await expect(dialog.get_by_text('"initiated"')).to_be_visible()
        await dialog.get_by_role("button", name="Close").click()

        async def is_queued() -> bool:  # an engine reads the target again within a second
            await page.get_by_role("button", name="Resend all").click()
            await dialog.get_by_role("button", name="Resend all").click()
            problem, done = dialog.get_by_role("alert"), page.get_by_text("letters are queued")
            await expect(problem.or_(done)).to_be_visible()
            is_rejected = await problem.is_visible()
            if is_rejected:
                await dialog.get_by_role("button", name="Cancel").click()
            return not is_rejected

        await until(is_queued, what="the dead letters to be queued")
        await hooks.wait_for_request("/events", times=2)


async def test_an_attempt_is_shown_and_repeated(
    browser: Browser, owner: Person, other: Person, hooks: WebhookServer
) -> None:
    """With what the server has returned, also if that is markup."""
    await owner.rest("PUT", CALLBACKS, {"target": hooks.answers("/log", raw(MARKUP.encode()))})
    await call_unreachable_agent(owner)

    async def is_logged() -> bool:
        return bool((await owner.rest("GET", "/srmain/voice/webhooks?kind=callback"))["data"])

    await until(is_logged, what="an attempt")
    async with console_page(browser, owner, path=f"{LOG}?kind=callback") as page:
        show = page.get_by_role("button", name="Show attempt").first
        await show.click()
        section = page.get_by_role("region", name="POST")
        await expect(section).to_contain_text(MARKUP)
        await expect(section).to_contain_text('"event"')
        sent = len(hooks.requests)
        await section.get_by_role("button", name="Retry").click()
        await expect(section).to_contain_text("which repeats")
        await hooks.wait_for_request("/log", times=sent + 1)
        await page.get_by_label("Show new attempts").check()
        rows = page.get_by_role("row")
        before = await rows.count()
        await call_unreachable_agent(owner)
        await expect(rows).not_to_have_count(before)
        await page.get_by_label("Call", exact=True).fill("3-pbx1-0000")
        await page.get_by_role("button", name="Show", exact=True).first.click()
        await expect(page.get_by_text("No attempt matches")).to_be_visible()
        async with console_page(browser, other, path=LOG) as theirs:
            await expect(theirs.get_by_text("No attempt matches")).to_be_visible()
