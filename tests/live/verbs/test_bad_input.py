"""Invalid input is reported with its path, and does not end a call that can continue."""

from typing import Any

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, page, raw, status
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.servers.engine import RequestError

LASTS_MS = 300_000  # a gather, until a key or a hangup
WAITS = {"type": "gather", "data": {"timeout": LASTS_MS}}
PLAY = {"type": "play", "data": {"audioUrl": "https://example.com/a.wav"}}


def nested(depth: int) -> dict[str, Any]:
    """Return an action tree of this depth."""
    tree: dict[str, Any] = {"type": "hangup", "data": {}}
    for _ in range(depth - 1):
        tree = {"type": "say", "data": {"text": "x"}, "action": tree}
    return tree


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"action": "not an address"}, "action"),
        ({"action": {"data": {}}}, "action.type"),
        ({"action": {"type": "sing", "data": {}}}, "action.type"),
        ({"action": {"type": "play", "data": {"audioUrl": "ftp://x/y"}}}, "action.data.audioUrl"),
        ({"action": {"type": "play", "data": {"audioUrl": "http://x/y"}}}, "action.data.audioUrl"),
        ({"action": {"type": "play", "data": {"audioURL": "x"}}}, "action.data.audioURL"),
        ({"action": {**PLAY, "action": {"type": "dial", "data": {}}}}, "action.action.data"),
        ({"action": {"type": "dial", "data": {"number": "1;2"}}}, "action.data.number"),
        ({"action": {"type": "gather", "data": {"maxDigits": 0}}}, "action.data.maxDigits"),
        ({"action": nested(51)}, "action" + ".action" * 50),
        ({"to": "call me"}, "to"),
        ({"colour": "red"}, "colour"),
        ({"action": {"type": "say", "data": {"text": "x" * 4001}}}, "action.data.text"),
    ],
)
async def test_a_malformed_call_is_refused(lab: Lab, body: dict[str, Any], path: str) -> None:
    """An invalid request gets 400 with the path of the error, and no call is made."""
    with pytest.raises(RequestError) as refused:
        await lab.call(**{"to": "+15550100", **body})
    assert refused.value.status == 400
    assert refused.value.problem["errors"][0]["path"] == path


async def test_a_too_large_request_is_refused(lab: Lab) -> None:
    """A request body of half a megabyte is refused."""
    with pytest.raises(RequestError) as refused:
        await lab.call(to="+15550100", customData={"x": "y" * 500_000})
    assert refused.value.status in {400, 413}


async def test_a_repeated_request_id_returns_the_same_call(lab: Lab) -> None:
    """A repeated requestId returns the existing call."""
    request = {"to": "+15550100", "requestId": "order12345"}
    async with Phone.answering(lab.trunk_port) as phone:
        first = await lab.call(**request, action=WAITS)
        assert await lab.call(**request, action=WAITS) == first
        await phone.wait_answered()
        assert await lab.call(**request, action=WAITS) == first
        await phone.hang_up()
        await lab.wait_ended(first)
    assert await lab.call(**request) == first


async def test_a_call_of_another_account_is_not_found(lab: Lab) -> None:
    """A call of another account gets 404, like a call that does not exist."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=WAITS)
        await phone.wait_answered()
        for path in (f"/calls/{call}?account=other", "/calls/0-pbx1-nothing00?account=acme"):
            with pytest.raises(RequestError) as refused:
                await lab.engine.rpc("GET", path)
            assert refused.value.status == 404
        with pytest.raises(RequestError) as refused:
            await lab.engine.rpc("POST", f"/calls/{call}/hangup", {"account": "other"})
        assert refused.value.status == 404
        await phone.hang_up()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (page(), "not_json"),
        (raw(b"[" * 10_000_000), "too_large"),
        (status(500), "status_500"),
        (status(302), "redirect"),
        ({"type": "sing"}, "invalid_action"),
    ],
    ids=["html", "10 MB", "500", "redirect", "no verb"],
)
async def test_an_invalid_webhook_answer_ends_the_call(
    lab: Lab, hooks: WebhookServer, answer: object, reason: str
) -> None:
    """A webhook answer without an action ends the call; reason and timeline explain it."""
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=hooks.answers("/next", answer))
        await phone.wait_ended()
        view = await lab.wait_ended(call)
    assert view["reason"].startswith(f"action_failed:{reason}")
    [failed] = [each for each in await lab.timeline_events(call) if each["type"] == "action-failed"]
    assert failed["reason"].startswith(reason)


async def test_a_fallback_runs_after_an_invalid_answer(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A 503 is retried; after an invalid answer the fallback verb of the gather runs."""
    fallback = {"type": "play", "data": {"audioUrl": sounds.tone(700, 300)}}
    action = {
        "type": "gather",
        "data": {"maxDigits": 1, "timeout": LASTS_MS, "fallback": fallback},
        "action": hooks.answers("/result", status(503), page()),
    }
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await phone.wait_ended()
        assert len(phone.tones_heard(700)) == 1
    first, again = hooks.requests_to("/result")
    assert first.id == again.id


@pytest.mark.parametrize(
    ("path", "fault"),
    [
        ("/missing", "not_found"),
        ("/page", "not_audio"),
        ("/elsewhere", "redirect"),
        ("/huge", "too_large"),
        ("https://169.254.169.254/a.wav", "refused_address"),
    ],
)
async def test_unavailable_audio_is_skipped(
    lab: Lab, sounds: MediaServer, path: str, fault: str
) -> None:
    """An address without audio is skipped; an event and the timeline name the fault."""
    bad = path if path.startswith("https:") else sounds.url(path)
    data = {"audioUrl": [sounds.tone(600, 200), bad, sounds.tone(700, 200)]}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action={"type": "play", "data": data})
        await phone.wait_ended()
        events = await lab.timeline_events(call)
        [fetched] = [each for each in events if each["type"] == "media-fetched"]
        assert [each.partition(":")[0] for each in fetched["faults"]] == [fault]
        heard = phone.tones_heard(600, 700)
        assert [each.hz for each in heard] == [600, 700], (heard, events)
    event = await lab.engine.wait_for_event(call, "media-failed")
    assert (event["source"], event["reason"]) == (bad, fault)
    assert (await lab.wait_ended(call))["status"] == "completed"
