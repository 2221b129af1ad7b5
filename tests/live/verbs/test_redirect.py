"""redirect on a real call: two webhooks share it, and a third one that fails is replaced."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, status
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone

FIRST_HZ, SECOND_HZ = 600, 700


async def test_a_call_is_redirected(lab: Lab, sounds: MediaServer, hooks: WebhookServer) -> None:
    """The second webhook's tree is heard after the first one's, then the fallback of the third."""
    broken = hooks.answers("/broken", status(404))
    last = {"type": "play", "data": {"audioUrl": sounds.tone(SECOND_HZ, 300)}}
    to_broken = {"type": "redirect", "data": {"url": broken, "fallback": last}}
    second = {"type": "play", "data": {"audioUrl": sounds.tone(FIRST_HZ, 300)}, "action": to_broken}
    to_second = {"type": "redirect", "data": {"url": hooks.answers("/second", second)}}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=hooks.answers("/first", to_second))
        await phone.wait_ended()
    heard = phone.tones_heard(FIRST_HZ, SECOND_HZ)
    assert [each.hz for each in heard] == [FIRST_HZ, SECOND_HZ]
    bodies = [each.body for each in hooks.requests]
    assert [each["event"] for each in bodies] == ["start", "redirect", "redirect"]
    assert {each["callId"] for each in bodies} == {call}
    assert (await lab.wait_ended(call))["status"] == "completed"
