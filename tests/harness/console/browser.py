"""A real browser for the console's tests: Debian's Chromium, driven by Playwright.

    async with open_browser() as browser, console_page(browser, api) as page:
        await page.goto(f"{api.url}/console/calls")

`console_page` signs in, and fails a test for what a browser reports: an exception in a script, a
violation of the content policy, a request to another host.
"""

import asyncio
import os
import shutil
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Protocol

from playwright.async_api import Browser, BrowserContext, Download, Page, async_playwright

WAIT_MS = 20_000  # only a hang takes so long, also on a busy machine
# Audio without a device, a permission or a person: a file of samples is what a microphone hears.
_AUDIO = (
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
    "--allow-loopback-in-peer-connection",
    "--autoplay-policy=no-user-gesture-required",
)
# Chromium obeys only the last `--disable-features`, so all features are in one:
# https://source.chromium.org/chromium/chromium/src/+/main:base/command_line.cc
_DISABLED_FEATURES = (
    "WebRtcHideLocalIpsWithMdns",  # so ICE candidates have addresses, not names of mDNS
    # Each window loads two pages for the list below its address bar, which --headless does not
    # show; without them these tests cost 0.72 of the browser's CPU.
    "WebUIOmniboxPopup",
    "WebUIOmniboxAimPopup",
    # Each window keeps a process for a next site, and the tests stay at one; without it: 0.92.
    "SpareRendererForSitePerProcess",
)
_ARGUMENTS = (*_AUDIO, f"--disable-features={','.join(_DISABLED_FEATURES)}")


def find_chromium() -> str | None:
    """Return the path of Debian's Chromium; `make tools` installs it."""
    return shutil.which("chromium")


class SignIn(Protocol):
    """Where somebody signs in, and with which pair of a key."""

    @property
    def url(self) -> str: ...

    @property
    def api_key(self) -> str: ...

    @property
    def api_secret(self) -> str: ...


@asynccontextmanager
async def open_browser(
    microphone: Path | None = None, home: Path | None = None
) -> AsyncIterator[Browser]:
    """Start a browser; its microphone hears a WAV file, again and again.

    `home` is the folder of its user, which has the authorities that this user trusts.
    """
    arguments: Sequence[str] = _ARGUMENTS
    if microphone is not None:
        arguments = (*_ARGUMENTS, f"--use-file-for-fake-audio-capture={microphone}")
    if os.geteuid() == 0:
        arguments = (*arguments, "--no-sandbox")  # which does not work as root
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=find_chromium(),
            args=list(arguments),
            env={**os.environ, "HOME": str(home or Path.home())},
        )
        try:
            yield browser
        finally:
            await browser.close()


@asynccontextmanager
async def console_page(
    browser: Browser, api: SignIn, *, agent: str = "", path: str = "/console", **options: Any
) -> AsyncIterator[Page]:
    """Open a window of its own with a session of the account's key, and show a page of the console.

    `options` are those of a browser context, such as viewport and color_scheme.
    """
    context = await browser.new_context(**options)
    context.set_default_timeout(WAIT_MS)
    faults = watch_faults(context, api.url)
    try:
        page = await context.new_page()
        await start_session(context, api, agent)
        await page.goto(api.url + path)
        yield page
        assert faults == []
    finally:
        await context.close()


async def start_session(context: BrowserContext, api: SignIn, agent: str = "") -> None:
    """Sign in without the form; the cookie is the window's."""
    given = {"apiKey": api.api_key, "apiSecret": api.api_secret, "agentId": agent or None}
    answer = await context.request.post(f"{api.url}/console/session", data=given)
    assert answer.ok, await answer.text()


async def sign_in(page: Page, api: SignIn, agent: str = "") -> None:
    """Sign in as a person does."""
    await page.goto(f"{api.url}/console/sign-in")
    await page.get_by_label("API key").fill(api.api_key)
    await page.get_by_label("API secret").fill(api.api_secret)
    await page.get_by_label("Agent").fill(agent)
    await page.get_by_role("button", name="Sign in").click()
    await page.wait_for_url(lambda url: "/console/sign-in" not in url)


def watch_faults(context: BrowserContext, origin: str) -> list[str]:
    """Return a list that gets whatever no page may do."""
    faults: list[str] = []

    def on_page(page: Page) -> None:
        page.on("pageerror", lambda error: faults.append(f"exception: {error}"))
        page.on("console", lambda said: _collect(said.text, faults))
        page.on("request", lambda request: _check_host(request.url, origin, faults))

    context.on("page", on_page)
    return faults


def _collect(text: str, faults: list[str]) -> None:
    if "Content Security Policy" in text:
        faults.append(text)


def _check_host(url: str, origin: str, faults: list[str]) -> None:
    if not url.startswith((origin, "data:", "blob:")):
        faults.append(f"request to {url}")


async def read_download(download: Download) -> str:
    """Return the text of a file that the browser has saved."""
    path = Path(await download.path())
    return await asyncio.to_thread(path.read_text)
