"""Calls of the phone in a browser, verified by tone in both directions."""

from tests.harness.phones.phone import Phone
from tests.live.console.phone.workstation import (
    CUSTOMER_HZ,
    MICROPHONE_HZ,
    Workstation,
    assert_talk,
)


async def test_a_customer_calls_the_agent(station: Workstation) -> None:
    """The phone rings, the agent answers, and both hear each other."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await station.phone.until_talking()
        await assert_talk(customer, station.phone)
        await station.phone.click("Hang up")
        await customer.wait_ended()
    await station.phone.until_idle()


async def test_the_agent_calls_a_number(station: Workstation) -> None:
    """By one click: the server calls this phone, which answers by itself, and then the number."""
    async with Phone.answering(station.lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.dial("+47 22 22 22 22")
        await station.phone.until_talking()
        await assert_talk(customer, station.phone)
        await customer.hang_up()
    await station.phone.until_idle()


async def test_a_rejected_call(station: Workstation) -> None:
    """The customer's call goes on without the agent: here it ends."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Reject")
        await customer.wait_ended()
    await station.phone.until_idle()


async def test_hold_and_mute(station: Workstation) -> None:
    """A muted agent is not heard, and hears; a held customer hears music, and is not heard."""
    number = await station.customer()
    async with Phone.calling(station.lab.pbx, number, tone_hz=CUSTOMER_HZ) as customer:
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await station.phone.click("Mute")
        await customer.until_lost(MICROPHONE_HZ)
        await station.phone.until_hears(CUSTOMER_HZ)
        await station.phone.click("Mute")
        await assert_talk(customer, station.phone)
        await station.phone.click("Hold")
        await customer.until_lost(MICROPHONE_HZ)
        await station.phone.until_silent()
        await station.phone.click("Hold")
        await assert_talk(customer, station.phone)
        await customer.hang_up()
    await station.phone.until_idle()
