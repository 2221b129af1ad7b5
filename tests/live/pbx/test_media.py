"""Media of calls: fax beside audio, keys in the audio, codecs, and phones that fall silent."""

import asyncio
import socket
from pathlib import Path

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.asterisk import SHORT_RTP_TIMEOUT_S
from tests.harness.phones.phone import Phone
from tests.harness.phones.sip import ALAW_AND_EVENTS, ULAW_AND_EVENTS
from tests.harness.until import MAX_WAIT_S, until

WAITS = {"type": "gather", "data": {"timeout": 30_000}}
FAX_BESIDE = """m=audio @RTP_PORT@ RTP/AVP 0 101
      a=rtpmap:0 PCMU/8000
      a=rtpmap:101 telephone-event/8000
      a=fmtp:101 0-15
      m=image 45000 udptl t38
      a=T38FaxVersion:0"""
NO_EVENTS = """m=audio @RTP_PORT@ RTP/AVP 0
      a=rtpmap:0 PCMU/8000"""
INACTIVE = f"{ULAW_AND_EVENTS}\n      a=inactive"
G729 = """m=audio @RTP_PORT@ RTP/AVP 18 101
      a=rtpmap:18 G729/8000
      a=rtpmap:101 telephone-event/8000"""
G722 = """m=audio @RTP_PORT@ RTP/AVP 9
      a=rtpmap:9 G722/8000"""
OPUS = """m=audio @RTP_PORT@ RTP/AVP 107
      a=rtpmap:107 opus/48000/2"""


async def test_an_offer_with_fax_gets_audio(
    lab: Lab, hooks: WebhookServer, sounds: MediaServer
) -> None:
    """A caller that offers T.38 beside audio hears the prompt, and its keys arrive."""
    data = {"audioUrl": sounds.tone(1300, 1000), "maxDigits": 4}
    number = await lab.add_number(
        {"type": "gather", "data": data, "action": hooks.answers("/g", None)}
    )
    async with Phone.calling(lab.pbx, number, media=FAX_BESIDE) as caller:
        await caller.wait_answered()
        await caller.until_hears(1300)
        await caller.press("1234")
        result = await hooks.wait_for_request("/g")
        await caller.wait_ended()
    assert result.body["dtmf"] == "1234"


@pytest.mark.parametrize("headers", [(), ("Content-Type: application/sdp",)])
async def test_a_caller_without_sdp_hears_the_whole_prompt(
    lab: Lab, sounds: MediaServer, headers: tuple[str, ...]
) -> None:
    """Its SDP is in its ACK (RFC 3261, 13.2.1), which comes long after the answer."""
    number = await lab.add_number({"type": "play", "data": {"audioUrl": sounds.tone(1300, 1000)}})
    async with Phone.calling(lab.pbx, number, late_sdp_ms=1_000, headers=headers) as caller:
        await caller.wait_ended()
    assert caller.heard_ms(1300) >= 960


async def test_a_caller_without_sdp_whose_ack_holds(lab: Lab, sounds: MediaServer) -> None:
    """Third-party call control (RFC 3725) resumes the caller later: the prompt waits."""
    number = await lab.add_number({"type": "play", "data": {"audioUrl": sounds.tone(1300, 300)}})
    async with Phone.calling(lab.pbx, number, late_sdp_ms=500, media=INACTIVE) as caller:
        call = await lab.wait_for_call()
        answered = await lab.engine.wait_for_event(call, "answered")
        held = await lab.engine.wait_for_event(call, "leg-held")
        await lab.wait_for_state(call, "playing")
        await caller.hang_up()
    record = (await lab.engine.wait_for_event(call, "completed"))["record"]
    assert held["timestamp"] - answered["timestamp"] >= 400
    assert (record["status"], record["holdMs"] > 0) == ("completed", True)
    assert caller.heard_ms(1300) == 0


@pytest.mark.parametrize("direction", ["sendonly", "inactive"])
async def test_a_called_party_that_answers_on_hold(
    lab: Lab, sounds: MediaServer, direction: str
) -> None:
    """The prompt waits until it resumes, and is then heard from its beginning."""
    prompt = {"type": "play", "data": {"audioUrl": sounds.tone(1300, 1000)}}
    media = f"{ULAW_AND_EVENTS}\n      a={direction}"
    async with Phone.answering(lab.trunk_port, media=media) as called:
        call = await lab.call(to="+15550100", action=prompt)
        held = await lab.engine.wait_for_event(call, "leg-held")
        await lab.wait_for_state(call, "playing")
        await called.resume()
        await called.wait_ended()
    record = (await lab.engine.wait_for_event(call, "completed"))["record"]
    assert called.heard_ms(1300) >= 960
    assert (held["reason"], record["holdMs"] > 0) == ("phone", True)


async def test_a_party_whose_announcement_was_sent_only(lab: Lab) -> None:
    """Its 183 was `sendonly`: what its 200 says Asterisk does not report, so it is connected."""
    dial = {"type": "dial", "data": {"number": "+15550100"}}
    media = f"{ULAW_AND_EVENTS}\n      a=sendonly"
    async with (
        Phone.answering(lab.trunk_port, tone_hz=600, media=media, announces=True, after_ms=500),
        Phone.calling(lab.pbx, await lab.add_number(dial)) as caller,
    ):
        await caller.until_hears(600)
        await caller.hang_up()
    await lab.wait_empty()


async def test_keys_in_the_audio(lab: Lab, hooks: WebhookServer) -> None:
    """Without telephone-event keys are detected in the audio."""
    gather = {"type": "gather", "data": {"maxDigits": 4}, "action": hooks.answers("/g", None)}
    number = await lab.add_number(gather)
    async with Phone.calling(lab.pbx, number, media=NO_EVENTS) as caller:
        await caller.wait_answered()
        caller.send_silence()
        await lab.wait_for_state(await lab.wait_for_call(), "gathering")
        await caller.press_in_band("19*4")
        result = await hooks.wait_for_request("/g")
        await caller.wait_ended()
    assert result.body["dtmf"] == "19*4"


async def test_keys_in_the_audio_of_a_called_party(lab: Lab, hooks: WebhookServer) -> None:
    """The same for a party that was called and answers without telephone-event."""
    gather = {"type": "gather", "data": {"maxDigits": 2}, "action": hooks.answers("/g", None)}
    async with Phone.answering(lab.trunk_port, media=NO_EVENTS) as called:
        call = await lab.call(to="+15550100", action=gather)
        called.send_silence()
        await lab.wait_for_state(call, "gathering")
        await called.press_in_band("07")
        result = await hooks.wait_for_request("/g")
        await called.wait_ended()
    assert result.body["dtmf"] == "07"


async def test_an_answer_without_an_offered_codec_ends_the_leg(lab: Lab) -> None:
    """A party that answers only with telephone-event and another codec is hung up."""
    async with Phone.answering(lab.trunk_port, media=G729) as called:
        call = await lab.call(to="+15550100", action=WAITS)
        await called.wait_ended()
    assert (await lab.wait_ended(call))["hangupCause"] == 58


@pytest.mark.parametrize("media", [G722, OPUS], ids=["G.722", "opus"])
async def test_other_codecs_are_transcoded(strict: Lab, media: str) -> None:
    """A phone without G.711 is heard and hears: here it echoes the other party's tone."""
    async with (
        Phone.agent(strict.pbx, "1003", media=media, echoes=True),
        Phone.calling(
            strict.pbx,
            await strict.add_number({"type": "dial", "data": {"agent_id": "1003"}}),
            tone_hz=700,
        ) as caller,
    ):
        await caller.until_hears(700)
        await caller.hang_up()
    await strict.wait_empty()


@pytest.mark.parametrize("party", ["number", "agent"])
async def test_the_callers_codec_is_offered_first(lab: Lab, party: str) -> None:
    """So that neither leg is transcoded, although the PBX's own preference is G.711 mu-law."""
    data = {"agent_id": "1003"} if party == "agent" else {"number": "+15550100"}
    number = await lab.add_number({"type": "dial", "data": data})
    async with (
        (
            Phone.agent(lab.pbx, "1003") if party == "agent" else Phone.answering(lab.trunk_port)
        ) as called,
        Phone.calling(lab.pbx, number, media=ALAW_AND_EVENTS) as caller,
    ):
        await caller.wait_answered()
        await until(lambda: bool(called.messages), what="the call to reach the other phone")
        await caller.hang_up()
    offer = next(each for each in called.messages if each.method == "INVITE")
    assert offer.payload_types[:2] == ["8", "0"]


async def test_a_dead_phone_is_hung_up(strict: Lab) -> None:
    """A phone that sends neither RTP nor RTCP for the timeout is given up."""
    async with Phone.answering(strict.trunk_port, tone_hz=700) as called:
        call = await strict.call(to="+15550100", action=WAITS)
        await strict.wait_for_state(call, "gathering")
        called.stop_sending()
        view = await strict.wait_ended(call)
    assert view["hangupCause"] == 44


@pytest.mark.parametrize("held", [False, True], ids=["muted", "on hold"])
async def test_a_silent_phone_with_rtcp_stays(strict: Lab, held: bool) -> None:
    """A muted phone without comfort noise, or one on our hold, stays while it sends RTCP."""
    async with Phone.answering(strict.trunk_port, tone_hz=700) as called:
        call = await strict.call(to="+15550100", action=WAITS)
        await strict.wait_for_state(call, "gathering")
        if held:
            view = await strict.engine.call(call)
            body = {"channelId": view["mainChannelId"]}
            await strict.engine.rpc("POST", f"/calls/{call}/hold", body)
        called.send_reports()
        called.stop_sending()
        await called.wait_reported(for_s=2 * SHORT_RTP_TIMEOUT_S)
        assert not called.is_ended
        await called.hang_up()


async def test_an_address_behind_nat(tmp_path: Path) -> None:
    """With PBX_EXTERNAL_ADDRESS, peers outside the local networks see that address."""
    settings = {"EXTERNAL_ADDRESS": "198.51.100.7", "LOCAL_NETS": "10.0.0.0/8, 127.0.0.1/32"}
    async with open_lab(tmp_path, trunk_host="127.0.0.2", settings=settings) as lab:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as carrier:
            carrier.setblocking(False)
            carrier.bind(("127.0.0.2", lab.trunk_port))
            await lab.call(to="+15550100", action=WAITS)
            async with asyncio.timeout(MAX_WAIT_S):
                invite = (await asyncio.get_running_loop().sock_recv(carrier, 4_096)).decode()
    assert f"Contact: <sip:asterisk@198.51.100.7:{lab.pbx.sip_port}>" in invite
    assert "c=IN IP4 198.51.100.7" in invite
