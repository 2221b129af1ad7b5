"""What the phone survives: lost servers and connections, expired credentials, further tabs."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack

import pytest
import pytest_asyncio
from playwright.async_api import expect

from tests.harness.console.browser_phone import BrowserPhone
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.api import AccountClient, Api
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until
from tests.live.console.phone.workstation import CUSTOMER_HZ, Workstation, assert_talk

LIFE_S = 20  # of credentials that expire during a test
LOST = "The connection to the phone server is lost; trying again."


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def proxy() -> AsyncIterator[TcpProxy]:
    """Run a proxy between the browser's websocket and the REST layer."""
    async with TcpProxy() as proxy:
        yield proxy


@pytest_asyncio.fixture(scope="module", loop_scope="session")
async def layer(
    servers: Lab, proxy: TcpProxy, tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Api]:
    """Run a REST layer whose phones go through the proxy, with credentials that expire soon."""
    settings = {
        "SWITCHROOM_API_PHONE_NODES": f'["{servers.pbx.url}"]',
        "SWITCHROOM_API_PHONE_URL": f"ws://127.0.0.1:{proxy.port}",
        "SWITCHROOM_API_PHONE_S": f"{LIFE_S}",
    }
    folder = tmp_path_factory.mktemp("losses") / "api"
    async with Api(folder, engines=[servers.engine], settings=settings) as layer:
        proxy.target_port = layer.port
        yield layer


async def test_a_lost_websocket(station: Workstation, proxy: TcpProxy) -> None:
    """The phone says so and logs in again; a call goes on, and can be ended by either side."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await proxy.drop()
        await expect(station.phone.page.get_by_text(LOST)).to_be_visible()
        await station.phone.until_ready()
        await assert_talk(customer, station.phone)
        await customer.hang_up()
        await station.phone.until_idle()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await proxy.drop()
        await station.phone.until_ready()
        await station.phone.click("Hang up")
        await customer.wait_ended()


async def test_a_killed_engine(station: Workstation) -> None:
    """The call goes on, and so does the control of it with the next engine."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await station.lab.engine.kill()
        await assert_talk(customer, station.phone)
        await station.lab.ensure_running()
        await assert_talk(customer, station.phone)
        await station.phone.click("Hang up")
        await customer.wait_ended()


async def test_a_restarted_pbx(station: Workstation) -> None:
    """The phone logs in again as soon as the node is there, and is called."""
    await station.lab.pbx.kill()
    await expect(station.phone.page.get_by_text(LOST)).to_be_visible()
    await station.lab.ensure_running()
    await station.phone.until_ready()
    await until(lambda: is_callable(station.lab), what="the address of the phone")
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await customer.hang_up()


async def test_credentials_are_renewed(station: Workstation) -> None:
    """Before they expire; the phone is ready all the time after that."""
    first = await auths(station)

    async def are_others() -> bool:
        return first.isdisjoint(await auths(station))

    await until(are_others, timeout_s=2 * LIFE_S + 10, what="other credentials")
    await station.phone.until_ready()
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await customer.hang_up()


async def auths(station: Workstation) -> set[str]:
    """Return the user names that the PBX accepts."""
    path = f"asterisk/config/dynamic/res_pjsip/endpoint/{station.endpoint}"
    fields = await station.lab.ari(path)
    (found,) = [each["value"] for each in fields if each["attribute"] == "auth"]
    return {each for each in found.split(",") if each != station.endpoint}


async def test_two_tabs(station: Workstation, api: AccountClient) -> None:
    """Both ring; one answers, and the other stops; a rejected call stops ringing in both."""
    async with AsyncExitStack() as stack:
        context = station.phone.page.context
        page = await context.new_page()
        stack.push_async_callback(page.close)
        await page.goto(f"{api.url}/console/phone")
        other = BrowserPhone(page)
        await other.go_online()
        number = await station.customer()
        async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
            await expect(station.phone.button("Answer")).to_be_visible()
            await expect(other.button("Answer")).to_be_visible()
            await other.click("Answer")
            await assert_talk(customer, other)
            await station.phone.until_idle()
            await customer.hang_up()
        async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
            await expect(other.button("Reject")).to_be_visible()
            await station.phone.click("Reject")
            await customer.wait_ended()
            await other.until_idle()
        async with Phone.answering(station.lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
            await station.phone.dial("+4722222222")
            await assert_talk(customer, station.phone)
            await other.until_idle()
            await customer.hang_up()


async def is_callable(lab: Lab) -> bool:
    """Return whether each registered contact is in a record of the engine's: by the URI's hash."""
    rows = [line.split() for line in (await lab.pbx.cli("pjsip show contacts")).splitlines()]
    found = [(row[1], row[2]) for row in rows if len(row) > 3 and row[0] == "Contact:"]
    phones = {digest for name, digest in found if "~" not in name and "@" in name}
    records = {digest for name, digest in found if "~" in name}
    return bool(phones) and phones <= records
