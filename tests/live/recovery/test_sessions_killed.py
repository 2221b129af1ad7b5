"""The engine is killed in each state of a transfer, which continues unchanged."""

import asyncio

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer, start_ringing
from tests.live.recovery.test_resilience import crash
from tests.live.sessions.test_transfers import assert_handed_over

ANSWERED = {"source": "target", "target": "source", "customer": "music"}
RINGING = {"source": "ringing", "customer": "music", "target": ""}


async def assert_survives(parties: Parties, expected: dict[str, str]) -> None:
    """Assert the same audio with the engine, without an engine, and with the next one."""
    await parties.expect_audio(**expected)
    await parties.lab.engine.kill()
    await parties.expect_audio(**expected)
    await parties.lab.engine.start()
    await parties.expect_audio_for(1000, expected)


async def start_transfer(parties: Parties, mode: str = "attended", **more: object) -> Transfer:
    """Connect the parties and start a transfer; wait until the target rings."""
    await parties.connect()
    return await start_ringing(parties, mode, **more)


async def start_answered(parties: Parties) -> Transfer:
    """Start a transfer and let the target answer."""
    transfer = await start_transfer(parties)
    await parties["target"].pick_up()
    await transfer.wait_for_state("answered")
    return transfer


async def test_a_ringing_transfer_survives(parties: Parties) -> None:
    """Ringing and music continue; the target answers, and the transfer is completed."""
    transfer = await start_transfer(parties)
    await assert_survives(parties, RINGING)
    await parties["target"].pick_up()
    await parties.expect_audio(**ANSWERED)
    await transfer.complete()
    await assert_handed_over(parties)


async def test_an_answer_of_the_target_without_an_engine_counts(parties: Parties) -> None:
    """Without an engine nothing changes; the next one connects source and target."""
    transfer = await start_transfer(parties)
    await parties.lab.engine.kill()
    await parties["target"].pick_up()
    await parties["target"].wait_answered()
    await parties.lab.engine.start()
    await parties.expect_audio(**ANSWERED)
    await transfer.complete()
    await assert_handed_over(parties)


@pytest.mark.parametrize("song", [False, True])
async def test_a_blind_transfer_survives(parties: Parties, sounds: MediaServer, song: bool) -> None:
    """The music, default or custom, continues until the target answers."""
    music = {"mohAudioUrl": sounds.tone(1550, 500)} if song else {}
    transfer = await start_transfer(parties, "blind", **music)
    await assert_survives(parties, {"customer": "song" if song else "music", "target": ""})
    await parties["target"].pick_up()
    await transfer.wait_for_state("blind_transferred")
    await assert_handed_over(parties)


async def test_an_answered_transfer_survives(parties: Parties) -> None:
    """Source and target talk on, and the customer hears music until completion."""
    transfer = await start_answered(parties)
    await assert_survives(parties, ANSWERED)
    await transfer.complete()
    await assert_handed_over(parties)


async def test_a_transfer_can_be_canceled_after_a_crash(parties: Parties) -> None:
    """Source and customer are reconnected."""
    transfer = await start_answered(parties)
    await crash(parties.lab)
    await transfer.cancel()
    await parties["target"].wait_ended()
    await parties.expect_audio(customer="source", source="customer")


@pytest.mark.parametrize("moment", ["together", "replied", "source left"])
async def test_a_crash_during_completion_is_recovered(parties: Parties, moment: str) -> None:
    """The transfer is completed, or can be requested again."""
    transfer = await start_answered(parties)
    await parties.expect_audio(**ANSWERED)
    if moment == "together":
        await asyncio.gather(transfer.complete(), parties.lab.engine.kill(), return_exceptions=True)
    else:
        await transfer.complete()
        if moment == "source left":
            await parties["source"].wait_ended()
        await parties.lab.engine.kill()
    await parties.lab.engine.start()
    assert (await transfer.complete())["state"] == "completed"
    await assert_handed_over(parties)


@pytest.mark.parametrize(
    ("leaving", "expected"),
    [
        ("source", {"customer": "target", "target": "customer"}),
        ("target", {"customer": "source", "source": "customer"}),
    ],
)
async def test_a_hangup_without_an_engine_ends_the_transfer(
    parties: Parties, leaving: str, expected: dict[str, str]
) -> None:
    """Without the source the transfer completes, without the target it fails."""
    transfer = await start_answered(parties)
    await parties.expect_audio(**ANSWERED)
    await parties.lab.engine.kill()
    await parties[leaving].hang_up()
    await parties.lab.engine.start()
    await parties.expect_audio(**expected)
    if leaving == "source":
        await transfer.wait_for_state("completed", "source_hangup_intentional")
    else:
        await transfer.wait_for_state("failed", "target_hangup")


async def test_a_customer_hangup_without_an_engine_ends_the_call(parties: Parties) -> None:
    """The next engine hangs up the others."""
    transfer = await start_answered(parties)
    await parties.expect_audio(**ANSWERED)
    await parties.lab.engine.kill()
    await parties["customer"].hang_up()
    await parties.lab.engine.start()
    for name in ("source", "target"):
        await parties[name].wait_ended()
    await transfer.wait_for_state("abandoned", "customer_hangup")
