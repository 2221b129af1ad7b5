"""Call screening on real calls: a whisper, or a key to press, before a dialled leg is bridged."""

from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.phones.parties import TONES_HZ, Parties
from tests.harness.until import until

PROMPT_HZ = TONES_HZ["prompt"]
PROMPT_MS = 8_000  # longer than a period of the ring tone, whose pause is 4 s
EDGE_MS = 60  # frames that hold two sounds
LONG_PROMPT_MS = 60_000  # until a key ends it


async def _start_dial(parties: Parties, hooks: WebhookServer, *names: str, **data: object) -> None:
    """Let the customer call a number that dials parties; the action is /after."""
    for name in names:
        await parties.add_phone(name)
    numbers = [parties[name].address for name in names]
    dial = {
        "type": "dial",
        "data": {"number": numbers, **data},
        "action": hooks.answers("/after", None),
    }
    await parties.call_in(await parties.lab.add_number(dial))


def _rings_and_whispers(parties: Parties) -> bool:
    heard = parties.heard_now("customer", "source")
    return "ringing" in heard["customer"] and heard["source"] == {"prompt"}


async def test_only_the_called_party_hears_a_whisper(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The called party hears the whole whisper, the caller hears ringing; then both are bridged."""
    whisper = {"type": "play", "data": {"audioUrl": sounds.tone(PROMPT_HZ, PROMPT_MS)}}
    await _start_dial(parties, hooks, "source", whisper=whisper)
    await until(
        lambda: _rings_and_whispers(parties),
        what="a whisper for the source and ringing for the customer",
    )
    await parties.expect_audio(customer="source", source="customer")
    [heard] = parties["source"].tones_heard(PROMPT_HZ)
    assert heard.length_ms == approx(PROMPT_MS, abs=EDGE_MS)
    assert parties["customer"].tones_heard(PROMPT_HZ) == []
    assert not [each for each in parties["source"].tones_heard(TONES_HZ["customer"])
                if each.start_ms < heard.end_ms - EDGE_MS]  # fmt: skip


async def test_the_right_key_connects(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The key may be pressed during the prompt, which it ends."""
    confirm = {"digit": "5", "audioUrl": sounds.tone(PROMPT_HZ, LONG_PROMPT_MS)}
    await _start_dial(parties, hooks, "source", confirm=confirm)
    await parties["source"].until_hears(PROMPT_HZ)
    await parties["source"].press("5")
    await parties.expect_audio(customer="source", source="customer")
    await parties["source"].hang_up()
    result = (await hooks.wait_for_request("/after")).body["dial"]
    assert result["status"] == "completed"


async def test_a_wrong_key_declines_the_call(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """The called party is hung up at once, and the call continues."""
    confirm = {"timeout": 60_000, "audioUrl": sounds.tone(PROMPT_HZ, 30_000)}
    await _start_dial(parties, hooks, "source", confirm=confirm)
    await parties["source"].until_hears(PROMPT_HZ)
    await until(lambda: "ringing" in parties.heard_now("customer")["customer"], what="ringing")
    await parties["source"].press("7")
    result = (await hooks.wait_for_request("/after")).body["dial"]
    await parties["source"].wait_ended()
    assert (result["status"], result["cause"]) == ("failed", 21)
    assert parties["customer"].tones_heard(TONES_HZ["source"]) == []


async def test_no_key_declines_the_call(parties: Parties, hooks: WebhookServer) -> None:
    """Without a key within confirm.timeout ms the called party is hung up."""
    await _start_dial(parties, hooks, "source", confirm={"timeout": 1_000})
    await parties["source"].wait_answered()
    result = (await hooks.wait_for_request("/after")).body["dial"]
    await parties["source"].wait_ended()
    assert (result["status"], result["cause"]) == ("failed", 21)


async def test_the_first_to_confirm_wins(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """Both answer and hear the prompt; the second confirms, the first is hung up."""
    confirm = {"audioUrl": sounds.tone(PROMPT_HZ, LONG_PROMPT_MS)}
    await _start_dial(parties, hooks, "source", "target", confirm=confirm)
    await parties["source"].until_hears(PROMPT_HZ)
    await parties["target"].until_hears(PROMPT_HZ)
    await parties["target"].press("1")
    await parties.expect_audio(customer="target", target="customer")
    await parties["source"].wait_ended()
    assert parties["source"].tones_heard(TONES_HZ["customer"]) == []


async def test_a_whisper_survives_a_crash(
    parties: Parties, hooks: WebhookServer, sounds: MediaServer, lab: Lab
) -> None:
    """The whisper plays once in full, and the next engine bridges the parties after it."""
    whisper = {"type": "play", "data": {"audioUrl": sounds.tone(PROMPT_HZ, 3_000)}}
    await _start_dial(parties, hooks, "source", whisper=whisper)
    await parties["source"].until_hears(PROMPT_HZ)
    await lab.engine.kill()
    await lab.ensure_running()
    await parties.expect_audio(customer="source", source="customer")
    [heard] = parties["source"].tones_heard(PROMPT_HZ)
    assert heard.length_ms == approx(3_000, abs=EDGE_MS)
