"""Calls continue when their engine is killed, as by a crash, or restarted, as by a deployment."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
from pytest import approx  # noqa: PT013 - reads as the sentence it is

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer, silent
from tests.harness.live_lab import Lab, open_lab
from tests.harness.monotonic import now_ms
from tests.harness.phones.audio import assert_all_forwarded, assert_uninterrupted
from tests.harness.phones.phone import NEVER_MS, Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import freeze, thaw
from tests.harness.until import until

LASTS_MS = 300_000  # a gather, until its first key
DIGIT_TIMEOUT_MS = 5_000
FROZEN_LEASE_S = 18  # the engine keeps its lease while it is frozen
FROZEN_DIGIT_TIMEOUT_MS = 4_000
EDGE_MS = 40  # frames that hold two sounds

Leave = Callable[[Lab], Awaitable[None]]


@pytest.fixture
async def patient(tmp_path: Path) -> AsyncIterator[Lab]:
    """Run servers whose engine has a long lease."""
    settings = {"SWITCHROOM_LEASE_S": str(FROZEN_LEASE_S)}
    async with open_lab(tmp_path, engine_settings=settings) as lab:
        yield lab


async def crash(lab: Lab) -> None:
    """Restart the engine by SIGKILL."""
    await lab.engine.kill()
    await lab.engine.start()


async def deploy(lab: Lab) -> None:
    """Restart the engine by SIGTERM."""
    await lab.engine.stop()
    await lab.engine.start()


crash_and_deploy = pytest.mark.parametrize("leave", [crash, deploy])


@crash_and_deploy
async def test_a_prompt_plays_once_in_full(lab: Lab, sounds: MediaServer, leave: Leave) -> None:
    """A restart during a prompt: the prompt plays once in full, and the next verb runs."""
    after = {"type": "play", "data": {"audioUrl": sounds.tone(700, 300)}}
    action = {"type": "play", "data": {"audioUrl": sounds.tone(600, 4000)}, "action": after}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await leave(lab)
        await phone.wait_ended()
    assert_uninterrupted(phone.tones_heard(600))
    assert phone.heard_ms(600) == approx(4000, abs=EDGE_MS)
    assert phone.heard_ms(700) == approx(300, abs=EDGE_MS)
    assert phone.tones_heard(700)[0].start_ms > phone.tones_heard(600)[-1].end_ms - EDGE_MS
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_a_prompt_of_several_files_needs_no_engine(lab: Lab, sounds: MediaServer) -> None:
    """The PBX has fetched all of them when it plays the first."""
    lengths_ms = {600: 1_530, 700: 670, 1000: 590}  # of no other test: the PBX has none of them
    urls = [sounds.tone(hz, length_ms) for hz, length_ms in lengths_ms.items()]
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action={"type": "play", "data": {"audioUrl": urls}})
        await phone.until_hears(600)
        await lab.engine.kill()
        await until(lambda: not any(map(phone.hears, lengths_ms)), what="the prompt's end")
        await lab.engine.start()
        await phone.wait_ended()
    heard_ms = {hz: phone.heard_ms(hz) for hz in lengths_ms}
    assert heard_ms == {hz: approx(ms, abs=EDGE_MS) for hz, ms in lengths_ms.items()}
    assert (await lab.wait_ended(call))["status"] == "completed"


async def test_a_prompt_that_ends_without_an_engine_continues_the_tree(
    lab: Lab, sounds: MediaServer
) -> None:
    """The end of the prompt is missed without an engine; the next verb runs after the restart."""
    after = {"type": "play", "data": {"audioUrl": sounds.tone(700, 300)}}
    action = {"type": "play", "data": {"audioUrl": sounds.tone(600, 2_000)}, "action": after}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=action)
        await phone.until_hears(600)
        await lab.engine.kill()
        await until(lambda: not phone.hears(600), what="the prompt's end")
        await lab.engine.start()
        await phone.wait_ended()
        heard = phone.tones_heard(600, 700)
    assert list(dict.fromkeys(each.hz for each in heard)) == [600, 700]
    assert phone.heard_ms(600) == approx(2_000, abs=EDGE_MS)
    assert phone.heard_ms(700) == approx(300, abs=EDGE_MS)


@crash_and_deploy
async def test_digits_are_kept(lab: Lab, hooks: WebhookServer, leave: Leave) -> None:
    """A restart between two digits: the first is kept, and the digit timeout restarts."""
    data = {"timeout": LASTS_MS, "digitTimeout": DIGIT_TIMEOUT_MS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await _wait_until_stored(lab, call, "digit-pressed")
        await leave(lab)
        back_ms = now_ms()
        await phone.press("2")
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
    assert (result.body["dtmf"], result.body["reason"]) == ("12", "digit-timeout")
    assert result.at_ms - back_ms > DIGIT_TIMEOUT_MS


async def test_digits_of_a_frozen_engine_are_in_time(patient: Lab, hooks: WebhookServer) -> None:
    """They wait in its sockets for longer than the digit timeout, which does not pass meanwhile."""
    lab = patient
    data = {"maxDigits": 6, "timeout": LASTS_MS, "digitTimeout": FROZEN_DIGIT_TIMEOUT_MS}
    action = {"type": "gather", "data": data, "action": hooks.answers("/result", None)}
    async with Phone.answering(lab.trunk_port) as phone:
        call = await lab.call(to="+15550100", action=action)
        await lab.wait_for_state(call, "gathering")
        await phone.press("1")
        await _wait_until_stored(lab, call, "digit-pressed")
        freeze(lab.engine)
        await phone.press("2345", gap_ms=FROZEN_DIGIT_TIMEOUT_MS // 2)
        thaw(lab.engine)
        await phone.press("6")
        result = await hooks.wait_for_request("/result")
        await phone.wait_ended()
    assert (result.body["dtmf"], result.body["reason"]) == ("123456", "max-digits")


@crash_and_deploy
async def test_a_dial_continues(lab: Lab, hooks: WebhookServer, leave: Leave) -> None:
    """A restart while a phone rings: after its answer both are bridged."""
    async with Phone.answering(free_port(), tone_hz=600, after_ms=NEVER_MS) as far:
        dial = {"type": "dial", "data": {"number": far.address}}
        number = await lab.add_number({**dial, "action": hooks.answers("/after", None)})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            await far.wait_ringing()
            await _wait_until_stored(lab, await lab.wait_for_call(), "leg-ringing")
            await leave(lab)
            await far.pick_up()
            await caller.until_hears(600)
            await far.until_hears(400)
            await far.hang_up()
            assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "completed"
            await caller.wait_ended()


async def test_an_answer_without_an_engine_is_bridged_later(lab: Lab, hooks: WebhookServer) -> None:
    """A phone that answers without an engine waits in Stasis, and the next engine bridges it."""
    async with Phone.answering(free_port(), tone_hz=600, after_ms=NEVER_MS) as far:
        dial = {"type": "dial", "data": {"number": far.address}}
        number = await lab.add_number({**dial, "action": hooks.answers("/after", None)})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            await far.wait_ringing()
            await _wait_until_stored(lab, await lab.wait_for_call(), "leg-ringing")
            await lab.engine.kill()
            await far.pick_up()
            await far.wait_answered()
            await lab.engine.start()
            await caller.until_hears(600)
            await far.until_hears(400)
            await far.hang_up()
            assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "completed"
            await caller.wait_ended()


async def test_a_phone_that_does_not_ring_is_called_once(lab: Lab, hooks: WebhookServer) -> None:
    """A crash before a called phone rings: the phone is not called again."""
    async with Phone.answering(free_port(), tone_hz=600, after_ms=NEVER_MS, rings=False) as far:
        dial = {"type": "dial", "data": {"number": far.address}}
        number = await lab.add_number({**dial, "action": hooks.answers("/after", None)})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            await far.wait_ringing()
            await _wait_until_stored(lab, await lab.wait_for_call(), "leg-created")
            await crash(lab)
            await far.pick_up()
            await caller.until_hears(600)
            await far.until_hears(400)
            assert [m.method for m in far.messages if not m.status].count("INVITE") == 1
            await far.hang_up()
            assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "completed"
            await caller.wait_ended()


@crash_and_deploy
async def test_a_conversation_is_not_interrupted(
    lab: Lab, hooks: WebhookServer, leave: Leave
) -> None:
    """A restart during a conversation: no audio is lost, and the action runs after it."""
    async with Phone.answering(free_port(), tone_hz=600) as far:
        dial = {"type": "dial", "data": {"number": far.address}}
        number = await lab.add_number({**dial, "action": hooks.answers("/after", None)})
        async with Phone.calling(lab.pbx, number, tone_hz=400) as caller:
            await caller.until_hears(600)
            await far.until_hears(400)
            since_ms = now_ms()
            await leave(lab)
            await caller.until_hears(600)
            assert_all_forwarded(caller.tones_heard(600, since_ms=since_ms))
            assert_all_forwarded(far.tones_heard(400, since_ms=since_ms))
            await far.hang_up()
            assert (await hooks.wait_for_request("/after")).body["dial"]["status"] == "completed"
            await caller.wait_ended()


@crash_and_deploy
async def test_a_pending_webhook_is_requested_again(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer, leave: Leave
) -> None:
    """A restart during a webhook request: it is repeated with the same id."""
    play = {"type": "play", "data": {"audioUrl": sounds.tone(600, 300)}}
    async with Phone.answering(lab.trunk_port) as phone:
        await lab.call(to="+15550100", action=hooks.answers("/next", silent(), play))
        await hooks.wait_for_request("/next")
        await leave(lab)
        again = await hooks.wait_for_request("/next", times=2)
        await phone.wait_ended()
    assert phone.heard_ms(600) == approx(300, abs=EDGE_MS)
    assert again.id == hooks.requests[0].id
    assert again.body == hooks.requests[0].body


@crash_and_deploy
async def test_the_last_webhook_of_an_ended_call_is_requested_again(
    lab: Lab, hooks: WebhookServer, leave: Leave
) -> None:
    """The caller hangs up in a gather; a restart before the response repeats its webhook."""
    after = hooks.answers("/after", silent(), None)
    gather = {"type": "gather", "data": {"maxDigits": 1, "timeout": LASTS_MS}, "action": after}
    async with Phone.calling(lab.pbx, await lab.add_number(gather), tone_hz=400) as phone:
        await phone.wait_answered()
        await phone.hang_up()
        first = await hooks.wait_for_request("/after")
        await lab.wait_empty()
        await leave(lab)
        again = await hooks.wait_for_request("/after", times=2)
    assert (again.id, again.body) == (first.id, first.body)
    assert again.body["reason"] == "hangup"


async def _wait_until_stored(lab: Lab, call: str, event: str) -> None:
    """Wait until an event is stored; otherwise it may happen again after a crash."""

    async def is_there() -> bool:
        return any(each["type"] == event for each in await lab.timeline_events(call))

    await until(is_there, what=f"{event} to be stored")
