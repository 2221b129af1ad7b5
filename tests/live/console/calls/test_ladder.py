"""The ladder: causes that a new user finds at once, markup, and calls with many steps."""

from typing import Any

import pytest
from playwright.async_api import Browser, Route, expect

from tests.harness.console.axe import assert_accessible_in_both_themes
from tests.harness.console.browser import console_page
from tests.harness.console.people import MARKUP
from tests.harness.console.timelines import CALL, long_call, moment, timeline
from tests.harness.customers.media_server import MediaServer
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import Parties
from tests.harness.servers.api import AccountClient
from tests.live.console.calls.test_call_page import ended_calls

STEPS = 10_000
PATH = f"/console/calls/{CALL}"


@pytest.mark.parametrize(
    ("verb", "said", "code"),
    [
        (
            {"type": "dial", "data": {"agent_id": "1009"}},
            "The phone of agent 1009 is not registered",
            "agent_offline",
        ),
        (
            {"type": "play", "data": {"audioUrl": "/none.wav"}},
            "/none.wav cannot be fetched: it does not exist there (HTTP status 404)",
            "not_found",
        ),
    ],
    ids=["the agent's phone is dead", "the prompt is 404"],
)
async def test_the_cause_is_said_first(  # noqa: PLR0913, PLR0917 - what a call needs
    browser: Browser,
    api: AccountClient,
    lab: Lab,
    parties: Parties,
    sounds: MediaServer,
    verb: dict[str, Any],
    said: str,
    code: str,
) -> None:
    """In words, with the page of its code, and the step where it happened."""
    if "audioUrl" in verb["data"]:
        verb = {**verb, "data": {"audioUrl": sounds.url(verb["data"]["audioUrl"])}}
    caller = await parties.add_caller("customer", await lab.add_number(verb, account=api.account))
    await caller.wait_ended()
    (call,) = await ended_calls(api)
    async with console_page(browser, api, path=f"/console/calls/{call}") as page:
        faults = page.get_by_role("region", name="What went wrong")
        await expect(faults).to_contain_text(said)
        address = await faults.get_by_role("link", name=code).get_attribute("href")
        assert (await page.request.get(f"{api.url}{address}")).status == 200
        await faults.get_by_role("button", name="Show").click()
        await expect(page.locator(".step.selected.failure")).to_have_count(1)


async def test_markup_is_text_and_no_rule_is_broken(browser: Browser, api: AccountClient) -> None:
    """Whatever names, custom data, actions and servers' texts contain."""
    action = {"type": "say", "data": {"text": MARKUP}}
    story = timeline(
        [
            moment(0, {"type": "call-opened"}, {"type": "answer", "leg": "a"}),
            moment(1, {"type": "agent-named", "leg": "a", "name": MARKUP}),
            moment(2, {"type": "action-received", "request": "r", "action": action}),
            moment(3, {"type": "action-failed", "request": "r", "reason": f"not_json: {MARKUP}"}),
        ],
        **{"from": MARKUP, "to": MARKUP, "customData": {"name": MARKUP}, "agents": [MARKUP]},
    )

    async def fulfil(route: Route) -> None:
        await route.fulfill(json=story)

    async with console_page(browser, api) as page:
        await page.route("**/timeline", fulfil)
        await page.goto(api.url + PATH)
        await expect(page.locator("call-ladder .step")).to_have_count(5)
        await expect(page.get_by_text(f"agent: {MARKUP}")).to_be_visible()
        await page.locator(".step", has_text="no usable response").click()
        await assert_accessible_in_both_themes(page)
        await page.set_viewport_size({"width": 390, "height": 844})
        await assert_accessible_in_both_themes(page)
        await page.get_by_role("button", name="As a table").click()
        await assert_accessible_in_both_themes(page)
        assert await page.locator("main img").count() == 0


async def test_of_ten_thousand_steps_those_in_the_window_are_drawn(
    browser: Browser, api: AccountClient
) -> None:
    """Wherever the window is; so a long call is drawn as soon as a short one."""

    async def fulfil(route: Route) -> None:
        await route.fulfill(json=long_call(STEPS))

    async with console_page(browser, api) as page:
        await page.route("**/timeline", fulfil)
        await page.goto(api.url + PATH)
        await expect(page.locator("call-ladder .ladder")).to_be_visible()
        steps = page.locator("call-ladder .step")
        assert 10 < await steps.count() < 100
        await page.get_by_role("group", name="Ladder of the call").focus()
        await page.keyboard.press("End")
        await expect(page.locator(f'[data-step="{STEPS - 1}"].selected')).to_be_visible()
        assert await steps.count() < 100
