"""Digits around the edges of a gather on real calls: typed ahead, held, or pressed from habit."""

from aiohttp import web

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.until import until

LASTS_MS = 300_000  # a gather, until its last key
PROMPT_HZ = 700
HEARD_MS = 1_400  # nearly the whole prompt


async def test_digits_during_a_webhook(lab: Lab, hooks: WebhookServer, sounds: MediaServer) -> None:
    """The menu of the response gets them; its prompt is not played."""
    data = {"maxDigits": 2, "audioUrl": sounds.tone(PROMPT_HZ, 4_000)}
    second = {"type": "gather", "data": data, "action": hooks.answers("/second", None)}
    call = ""

    async def answer_after_three_digits(_request: web.Request) -> web.Response:
        await until(lambda: _has_digits(lab, call, 3), what="the digits during the webhook")
        return web.json_response(second)

    first = hooks.answers("/first", answer_after_three_digits)
    once = {"maxDigits": 1, "timeout": LASTS_MS}
    action = {"type": "gather", "data": once, "action": first}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await hooks.wait_for_request("/first")
        await phone.press("23")
        result = await hooks.wait_for_request("/second")
        await phone.wait_ended()
        assert phone.tones_heard(PROMPT_HZ) == []
    assert hooks.requests_to("/first")[0].body["dtmf"] == "1"
    assert (result.body["dtmf"], result.body["reason"]) == ("23", "max-digits")


async def test_the_terminator_after_max_digits(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """`1234#` with maxDigits 4: the # neither ends the next menu nor stops its prompt."""
    lasts = {"timeout": LASTS_MS, "digitTimeout": LASTS_MS}
    data = {"audioUrl": sounds.tone(PROMPT_HZ, 1_500), **lasts}
    second = {"type": "gather", "data": data, "action": hooks.answers("/second", None)}
    first = hooks.answers("/first", second)
    action = {"type": "gather", "data": {"maxDigits": 4, **lasts}, "action": first}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1234#")
        await phone.until_heard(PROMPT_HZ)
        await until(lambda: phone.tones_heard(PROMPT_HZ)[0].length_ms > HEARD_MS)
        await phone.press("7#")
        result = await hooks.wait_for_request("/second")
        await phone.wait_ended()
        [prompt] = phone.tones_heard(PROMPT_HZ)
    assert hooks.requests_to("/first")[0].body["dtmf"] == "1234"
    assert (result.body["dtmf"], result.body["reason"]) == ("7", "terminator")
    assert prompt.length_ms > HEARD_MS


async def test_a_key_held_over_a_timeout_counts(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """It went down in time, which AMI reports; it does not answer the fallback's menu."""
    other = {"type": "gather", "data": {"maxDigits": 1}, "action": hooks.answers("/other", None)}
    prompt = sounds.tone(PROMPT_HZ, 3_000)
    timeouts = {"timeout": 2_000, "digitTimeout": 4_000}
    data = {"audioUrl": prompt, **timeouts, "maxDigits": 2, "fallback": other}
    action = {"type": "gather", "data": data, "action": hooks.answers("/menu", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.until_hears(PROMPT_HZ)
        presses = await phone.press("12", hold_ms=6_000)
        result = await hooks.wait_for_request("/menu")
        await phone.wait_ended()
    assert (result.body["dtmf"], result.body["reason"]) == ("12", "max-digits")
    assert result.at_ms >= presses[-1].up_ms
    assert hooks.requests_to("/other") == []


async def test_a_key_held_into_a_menu_without_type_ahead(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """It went down during the prompt before the menu, so it is not for the menu."""
    data = {"typeAhead": False, "maxDigits": 1, "timeout": LASTS_MS}
    gather = {"type": "gather", "data": data, "action": hooks.answers("/menu", None)}
    prompt = sounds.tone(PROMPT_HZ, 4_000)
    action = {"type": "play", "data": {"audioUrl": prompt}, "action": gather}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(PROMPT_HZ)
        await phone.press("1", hold_ms=6_000)
        await lab.wait_for_state(call, "gathering")
        await phone.press("5")
        result = await hooks.wait_for_request("/menu")
        await phone.wait_ended()
    assert result.body["dtmf"] == "5"


async def _has_digits(lab: Lab, call: str, count: int) -> bool:
    events = await lab.timeline_events(call)
    return len([each for each in events if each["type"] == "digit-pressed"]) >= count
