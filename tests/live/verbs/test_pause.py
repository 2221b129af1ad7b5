"""pause on real audio: silence of the given length, also after a crash of the engine."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.live.recovery.test_resilience import crash

FIRST_HZ, SECOND_HZ = 600, 700
EDGE_MS = 40  # frames that hold two sounds


def silence_ms(phone: Phone) -> float:
    """Return the time between the first tone and the second."""
    first, second = phone.tones_heard(FIRST_HZ, SECOND_HZ)
    assert (first.hz, second.hz) == (FIRST_HZ, SECOND_HZ)
    return second.start_ms - first.end_ms


async def test_a_pause_is_silent(lab: Lab, sounds: MediaServer, hooks: WebhookServer) -> None:
    """A webhook answers with a pause; the next sound follows after its length."""
    last = {"type": "play", "data": {"audioUrl": sounds.tone(SECOND_HZ, 300)}}
    pause = {"type": "pause", "data": {"length": 1.5}, "action": last}
    first = {"type": "play", "data": {"audioUrl": sounds.tone(FIRST_HZ, 300)}}
    async with Phone.answering(lab.trunk_port) as phone:
        action = {**first, "action": hooks.answers("/next", pause)}
        call = await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
    assert silence_ms(phone) >= 1_500 - EDGE_MS
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_a_crash_during_a_pause(lab: Lab, sounds: MediaServer) -> None:
    """The next engine waits for the rest."""
    last = {"type": "play", "data": {"audioUrl": sounds.tone(SECOND_HZ, 300)}}
    pause = {"type": "pause", "data": {"length": 5}, "action": last}
    first = {"type": "play", "data": {"audioUrl": sounds.tone(FIRST_HZ, 300)}, "action": pause}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=first)
        await lab.wait_for_state(call, "pausing")
        await crash(lab)
        await phone.wait_ended()
    assert silence_ms(phone) >= 5_000 - EDGE_MS
