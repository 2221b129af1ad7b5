"""gather on real calls: exact key times, and the time and content of the webhook."""

from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.gathers import press_into_gather
from tests.harness.phones.phone import Phone

GRACE_MS = 120  # for a key that went down in time
LASTS_MS = 300_000  # a gather, until its last key
EDGE_MS = 40  # frames that hold two sounds
EARLY_MS = 30  # tolerance between the clocks of phone and engine


async def test_the_webhook_gets_the_digits_at_max_digits(lab: Lab, hooks: WebhookServer) -> None:
    """At maxDigits the webhook gets digits, leg, reason and customData, with an id."""
    data = {"maxDigits": 4, "timeout": LASTS_MS, "digitTimeout": LASTS_MS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action, customData={"order": 7})
        await phone.wait_answered()
        await lab.wait_for_state(call, "gathering")
        await phone.press("1*29")
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
    assert result.body == {
        "callId": call,
        "event": "gather",
        "dtmf": "1*29",
        "to": {"channelId": f"{call}.l0"},
        "reason": "max-digits",
        "customData": {"order": 7},
    }
    assert result.id


async def test_digit_timeout_starts_at_the_last_key(lab: Lab, hooks: WebhookServer) -> None:
    """The digitTimeout, in milliseconds, restarts with each key and is never early."""
    data = {"timeout": LASTS_MS, "digitTimeout": 5_000}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    presses, result = await press_into_gather(lab, hooks, action, "123", gap_ms=2_700)
    assert (result.body["dtmf"], result.body["reason"]) == ("123", "digit-timeout")
    assert result.at_ms - presses[-1].up_ms > 5_000 + GRACE_MS - EARLY_MS


async def test_first_digit_timeout_starts_after_the_prompt(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The timeout starts after the full prompt; without a fallback, the webhook gets no digits."""
    data = {"audioUrl": sounds.tone(600, 1000), "timeout": 600}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
        [prompt] = phone.tones_heard(600)
    assert (result.body["dtmf"], result.body["reason"]) == ("", "timeout")
    assert prompt.length_ms == approx(1000, abs=EDGE_MS)
    assert result.at_ms - prompt.end_ms > 600 + GRACE_MS - EARLY_MS


async def test_the_terminator_ends_the_gather_and_is_not_collected(
    lab: Lab, hooks: WebhookServer
) -> None:
    """The terminator, here *, ends the gather before any timeout; # is then a digit."""
    data = {"terminator": "*", "timeout": LASTS_MS, "digitTimeout": LASTS_MS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    _, result = await press_into_gather(lab, hooks, action, "1#2*")
    assert (result.body["dtmf"], result.body["reason"]) == ("1#2", "terminator")


async def test_an_empty_terminator_disables_it(lab: Lab, hooks: WebhookServer) -> None:
    """With an empty terminator no key ends the gather."""
    data = {"terminator": "", "timeout": LASTS_MS, "digitTimeout": 4_000}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    _, result = await press_into_gather(lab, hooks, action, "1#2#")
    assert (result.body["dtmf"], result.body["reason"]) == ("1#2#", "digit-timeout")


async def test_a_key_stops_the_prompt(lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
    """Barge-in: the prompt stops at the key, not at the end of the gather."""
    data = {"audioUrl": sounds.tone(600, 60_000), "digitTimeout": 2_000}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await phone.press("5")
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
        [prompt] = phone.tones_heard(600)
    assert result.body["dtmf"] == "5"
    assert prompt.end_ms < result.at_ms


async def test_the_fallback_runs_without_input(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Without a key the fallback verb plays, and the webhook gets no request."""
    fallback = {"type": "play", "data": {"audioUrl": sounds.tone(700, 400)}}
    data = {"timeout": 200, "fallback": fallback}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.wait_ended()
        assert [heard.hz for heard in phone.tones_heard(700)] == [700]
    assert hooks.requests == []


async def test_the_webhook_answer_runs_next(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A second gather on the reported channelId runs, then a prompt."""
    result: list[str] = []
    end = {"type": "play", "data": {"audioUrl": sounds.tone(700, 300)}}
    second = hooks.answers("/second", end)
    async with Phone.answering(lab.trunk_port) as phone:
        once = {"maxDigits": 1, "timeout": LASTS_MS}
        action = {"type": "gather", "data": once, "action": hooks.url("/first")}
        call = await lab.call(to="+15550100", action=action, customData={"order": 7})
        await lab.wait_for_state(call, "gathering")
        data = {**once, "channelId": f"{call}.l0"}
        hooks.answers("/first", {"type": "gather", "data": data, "action": second})
        for key, path in (("1", "/first"), ("2", "/second")):
            await phone.press(key)
            result.append((await hooks.wait_for_request(path)).body["dtmf"])
            await lab.wait_for_state(call, "gathering") if path == "/first" else None
        await phone.wait_ended()
        assert len(phone.tones_heard(700)) == 1
    assert result == ["1", "2"]
    assert all(request.body["customData"] == {"order": 7} for request in hooks.requests)
