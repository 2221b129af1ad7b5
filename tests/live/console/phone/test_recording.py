"""A recorded call of a phone in a browser, whose leg is half of a Local channel."""

from tests.harness.phones.phone import Phone
from tests.harness.phones.recorded_calls import wait_for_recording
from tests.harness.phones.recording_file import LEFT, RIGHT
from tests.live.console.phone.workstation import (
    AGENT,
    CUSTOMER_HZ,
    MICROPHONE_HZ,
    Workstation,
    assert_talk,
)

HEARD_MS = 800


async def test_both_sides_are_recorded(station: Workstation) -> None:
    """The agent is called first, so the agent is on the left, and the customer on the right."""
    request = {
        "from": f"agent:{AGENT}",
        "to": "+4722222222",
        "recordCall": {"enable": True},
    }
    async with Phone.answering(station.lab.trunk_port, tone_hz=CUSTOMER_HZ) as customer:
        token = station.api.api_key
        made = await station.api.request("POST", "/srmain/voice/call", request, token=token)
        await station.phone.click("Answer")
        await assert_talk(customer, station.phone)
        await customer.wait_spoken(2 * HEARD_MS)
        await customer.hang_up()
        found = await wait_for_recording(station.lab, made["callId"])
    assert found.heard_ms(LEFT, MICROPHONE_HZ) >= HEARD_MS
    assert found.heard_ms(RIGHT, CUSTOMER_HZ) >= HEARD_MS
    assert found.heard_ms(LEFT, CUSTOMER_HZ) == found.heard_ms(RIGHT, MICROPHONE_HZ) == 0
