"""Mute and hold of legs during dials and transfers take effect at once."""

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import RINGS_S, Transfer, start_ringing
from tests.live.sessions.test_transfers import assert_handed_over


async def start_transfer(parties: Parties, mode: str = "attended", **more: object) -> Transfer:
    """Connect the parties and start a transfer; wait until the target rings."""
    await parties.connect()
    return await start_ringing(parties, mode, **more)


async def control_leg(parties: Parties, operation: str, name: str, **more: object) -> None:
    """Send a control request for a party."""
    await parties.control(operation, channelId=await parties.leg(name), **more)


async def test_hold_while_a_dial_rings(parties: Parties) -> None:
    """Music replaces ringing until unhold; a held caller hears music also after the answer."""
    source = await parties.add_phone("source", picks_up=False)
    dial = {"type": "dial", "data": {"number": source.address}, "timeout": RINGS_S}
    await parties.call_in(await parties.lab.add_number(dial))
    await parties.expect_audio(customer="ringing")
    await control_leg(parties, "hold", "customer")
    await parties.expect_audio(customer="music")
    await control_leg(parties, "unhold", "customer")
    await parties.expect_audio(customer="ringing")
    await control_leg(parties, "hold", "customer")
    await source.pick_up()
    await source.wait_answered()
    await parties.expect_audio(customer="music", source="")
    await control_leg(parties, "unhold", "customer")
    await parties.expect_audio(customer="source", source="customer")


async def test_mute_while_a_dial_rings(parties: Parties) -> None:
    """A leg muted outbound hears no ringing, and stays muted in the conversation."""
    source = await parties.add_phone("source", picks_up=False)
    dial = {"type": "dial", "data": {"number": source.address}, "timeout": RINGS_S}
    await parties.call_in(await parties.lab.add_number(dial))
    await control_leg(parties, "mute", "customer", direction="out")
    await source.pick_up()
    await parties.expect_audio(customer="", source="customer")
    await control_leg(parties, "unmute", "customer")
    await parties.expect_audio(customer="source", source="customer")


async def test_hold_while_a_transfer_rings(parties: Parties) -> None:
    """The held source hears music, also after the target's answer, until unhold."""
    await start_transfer(parties)
    await control_leg(parties, "hold", "source")
    await parties.expect_audio(source="music", customer="music")
    await parties["target"].pick_up()
    await parties.expect_audio(source="music", customer="music", target="")
    await control_leg(parties, "unhold", "source")
    await parties.expect_audio(source="target", target="source", customer="music")


async def test_mute_in_a_consultation(parties: Parties) -> None:
    """A muted target stays muted when the transfer is completed."""
    transfer = await start_transfer(parties)
    await parties["target"].pick_up()
    await parties.expect_audio(source="target", target="source", customer="music")
    await control_leg(parties, "mute", "target")
    await parties.expect_audio(source="", target="source", customer="music")
    await transfer.complete()
    await parties.expect_audio(customer="", target="customer")
    await control_leg(parties, "unmute", "target")
    await assert_handed_over(parties)


async def test_hold_and_mute_with_custom_hold_music(parties: Parties, sounds: MediaServer) -> None:
    """Custom music continues on hold, stops on mute and resumes after unmute."""
    await start_transfer(parties, "blind", mohAudioUrl=sounds.tone(1550, 500))
    await control_leg(parties, "hold", "customer")
    await parties.expect_audio(customer="song")
    await control_leg(parties, "mute", "customer", direction="out")
    await parties.expect_audio(customer="")
    await control_leg(parties, "unmute", "customer")
    await control_leg(parties, "unhold", "customer")
    await parties.expect_audio(customer="song")
    await parties["target"].pick_up()
    await assert_handed_over(parties)
