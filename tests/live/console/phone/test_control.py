"""What the agent does with a call: keys, transfers, a conference."""

from collections.abc import AsyncIterator

import pytest_asyncio

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.phones.phone import Phone
from tests.live.console.phone.workstation import (
    CUSTOMER_HZ,
    MICROPHONE_HZ,
    Workstation,
    assert_talk,
)

TARGET_HZ = 950
TARGET = "+4733333333"


@pytest_asyncio.fixture(loop_scope="session")
async def customer(station: Workstation) -> AsyncIterator[Phone]:
    """Connect the agent with a customer."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        yield customer


async def open_transfer(station: Workstation) -> None:
    """Name the target of a transfer."""
    await station.phone.click("Transfer")
    await station.phone.page.get_by_label("To number or agent").fill(TARGET)


async def test_a_transfer_after_a_word(station: Workstation, customer: Phone) -> None:
    """The customer hears music meanwhile, and then the target, which the agent leaves."""
    async with Phone.answering(station.lab.trunk_port, tone_hz=TARGET_HZ) as target:
        await open_transfer(station)
        await station.phone.click("Talk first")
        await station.phone.until_hears(TARGET_HZ)
        await target.until_hears(MICROPHONE_HZ)
        await customer.until_lost(MICROPHONE_HZ)
        await station.phone.click("Complete transfer")
        await customer.until_hears(TARGET_HZ)
        await target.until_hears(CUSTOMER_HZ)
        await station.phone.until_idle()
        await customer.hang_up()


async def test_a_canceled_transfer(station: Workstation, customer: Phone) -> None:
    """The agent is back with the customer, and the target is hung up."""
    async with Phone.answering(station.lab.trunk_port, tone_hz=TARGET_HZ) as target:
        await open_transfer(station)
        await station.phone.click("Talk first")
        await station.phone.until_hears(TARGET_HZ)
        await station.phone.click("Back to the caller")
        await target.wait_ended()
        await assert_talk(customer, station.phone)
        await customer.hang_up()


async def test_a_transfer_at_once(station: Workstation, customer: Phone) -> None:
    """The agent leaves, and customer and target hear each other."""
    async with Phone.answering(station.lab.trunk_port, tone_hz=TARGET_HZ) as target:
        await open_transfer(station)
        await station.phone.click("Transfer now")
        await station.phone.until_idle()
        await customer.until_hears(TARGET_HZ)
        await target.until_hears(CUSTOMER_HZ)
        await customer.hang_up()


async def test_a_third_party(station: Workstation, customer: Phone) -> None:
    """All three hear each other."""
    async with Phone.answering(station.lab.trunk_port, tone_hz=TARGET_HZ) as target:
        await open_transfer(station)
        await station.phone.click("Add to the call")
        for hz in (TARGET_HZ, MICROPHONE_HZ):
            await customer.until_heard(hz)
        for hz in (CUSTOMER_HZ, MICROPHONE_HZ):
            await target.until_heard(hz)
        await customer.hang_up()
        await target.hang_up()
        await station.phone.until_idle()


async def test_keys(station: Workstation, hooks: WebhookServer) -> None:
    """Pressed on the phone, they arrive where a call gathers digits."""
    assert await station.gathered(hooks, "12*3") == "12*3"
