"""Invalid answers of webhooks and missing audio: a call that can continue does."""

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, page, raw, status
from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone

LASTS_MS = 300_000  # a gather, until a key


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
    assert view["reason"] == f"action_failed:{reason}"
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
        ("/elsewhere", "refused_address"),
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
