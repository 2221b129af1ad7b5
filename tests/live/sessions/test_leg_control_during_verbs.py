"""Legs silenced and held while something else is done with them: it acts at once all the same."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.monotonic import now_ms
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer
from tests.live.sessions.test_leg_control import SOON_MS
from tests.live.sessions.test_transfers import assert_handed_over, wait_for_ringback


async def start_ringing(crowd: Parties, mode: str = "attended", **more: object) -> Transfer:
    """Let a transfer's target ring."""
    await crowd.connect()
    target = await crowd.add_phone("target", picks_up=False)
    transfer = Transfer(crowd)
    await transfer.start(mode, **more)
    await wait_for_ringback(target, transfer)
    return transfer


async def control_leg(crowd: Parties, deed: str, name: str, **more: object) -> None:
    """Do something with a party."""
    await crowd.control(deed, channelId=await crowd.leg(name), **more)


async def test_hold_while_a_dial_rings(crowd: Parties) -> None:
    """Music instead of ringing; unhold brings it back; held, the caller waits after the answer."""
    source = await crowd.add_phone("source", picks_up=False)
    dial = {"type": "dial", "data": {"number": source.address}}
    await crowd.call_in(await crowd.lab.add_number(dial))
    await crowd.expect_audio(customer="ringing")
    await control_leg(crowd, "hold", "customer")
    await crowd.expect_audio(customer="music")
    await control_leg(crowd, "unhold", "customer")
    await crowd.expect_audio(customer="ringing")
    await control_leg(crowd, "hold", "customer")
    await source.pick_up()
    await source.wait_answered()
    await crowd.expect_audio(customer="music", source="")
    await control_leg(crowd, "unhold", "customer")
    await crowd.expect_audio(customer="source", source="customer")


async def test_mute_while_a_dial_rings(crowd: Parties) -> None:
    """Who hears nothing hears no ringing; in the conversation it is so still."""
    source = await crowd.add_phone("source", picks_up=False)
    dial = {"type": "dial", "data": {"number": source.address}}
    await crowd.call_in(await crowd.lab.add_number(dial))
    await control_leg(crowd, "mute", "customer", direction="out")
    await source.pick_up()
    await crowd.expect_audio(customer="", source="customer")
    await control_leg(crowd, "unmute", "customer")
    await crowd.expect_audio(customer="source", source="customer")


async def test_hold_while_a_transfer_rings(crowd: Parties) -> None:
    """The source on hold hears music; the target's answer finds it so, until it is back."""
    await start_ringing(crowd)
    await control_leg(crowd, "hold", "source")
    await crowd.expect_audio(source="music", customer="music")
    await crowd["target"].pick_up()
    await crowd.expect_audio(source="music", customer="music", target="")
    await control_leg(crowd, "unhold", "source")
    await crowd.expect_audio(source="target", target="source", customer="music")


async def test_mute_in_a_consultation(crowd: Parties) -> None:
    """A target that is muted stays so when the customer is handed over."""
    transfer = await start_ringing(crowd)
    await crowd["target"].pick_up()
    await crowd.expect_audio(source="target", target="source", customer="music")
    await control_leg(crowd, "mute", "target")
    await crowd.expect_audio(source="", target="source", customer="music")
    await transfer.complete()
    await crowd.expect_audio(customer="", target="customer")
    await control_leg(crowd, "unmute", "target")
    await assert_handed_over(crowd)


async def test_music_of_ones_own(crowd: Parties, sounds: MediaServer) -> None:
    """On hold it is heard on; who waits with it is muted at once, and hears it again afterwards."""
    await start_ringing(crowd, "blind", mohAudioUrl=sounds.tone(1550, 500))
    await control_leg(crowd, "hold", "customer")
    await crowd.expect_audio(customer="song")
    asked_ms = now_ms()
    await control_leg(crowd, "mute", "customer", direction="out")
    await crowd.expect_audio(customer="")
    assert crowd.listener("customer").last_ms("song") - asked_ms < SOON_MS
    await control_leg(crowd, "unmute", "customer")
    await control_leg(crowd, "unhold", "customer")
    await crowd.expect_audio(customer="song")
    await crowd["target"].pick_up()
    await assert_handed_over(crowd)
