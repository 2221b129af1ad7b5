"""The engine is killed in each state of each session: who hears whom stays, and it goes on."""

import asyncio

import pytest

from tests.harness.customers.media_server import MediaServer
from tests.harness.phones.parties import Parties
from tests.harness.phones.sessions import Transfer
from tests.live.recovery.test_resilience import crash
from tests.live.sessions.test_transfers import assert_handed_over, wait_for_ringback

ANSWERED = {"source": "target", "target": "source", "customer": "music"}
RINGING = {"source": "ringing", "customer": "music", "target": ""}


async def assert_survives(crowd: Parties, expected: dict[str, str]) -> None:
    """See who hears whom with the engine, without one, and with the next."""
    await crowd.expect_audio(**expected)
    await crowd.lab.engine.kill()
    await crowd.expect_audio(**expected)
    await crowd.lab.engine.start()
    await crowd.expect_audio_for(1000, expected)


async def start_transfer(crowd: Parties, mode: str = "attended", **more: object) -> Transfer:
    """Let the target of a transfer ring."""
    await crowd.connect()
    target = await crowd.add_phone("target", picks_up=False)
    begun = Transfer(crowd)
    await begun.start(mode, **more)
    await wait_for_ringback(target, begun)
    return begun


async def start_answered(crowd: Parties) -> Transfer:
    """Let source and target talk."""
    begun = await start_transfer(crowd)
    await crowd["target"].pick_up()
    await begun.wait_for_state("answered")
    return begun


async def test_a_transfer_that_rings(crowd: Parties) -> None:
    """Ringing and music go on; the target answers, and it is completed."""
    begun = await start_transfer(crowd)
    await assert_survives(crowd, RINGING)
    await crowd["target"].pick_up()
    await crowd.expect_audio(**ANSWERED)
    await begun.complete()
    await assert_handed_over(crowd)


async def test_the_target_answers_meanwhile(crowd: Parties) -> None:
    """Without an engine nothing changes; the next one joins source and target."""
    begun = await start_transfer(crowd)
    await crowd.lab.engine.kill()
    await crowd["target"].pick_up()
    await crowd["target"].wait_answered()
    await crowd.lab.engine.start()
    await crowd.expect_audio(**ANSWERED)
    await begun.complete()
    await assert_handed_over(crowd)


@pytest.mark.parametrize("song", [False, True])
async def test_a_blind_transfer(crowd: Parties, sounds: MediaServer, song: bool) -> None:
    """The customer's music goes on, the usual or another; the target answers."""
    music = {"mohAudioUrl": sounds.tone(1550, 500)} if song else {}
    begun = await start_transfer(crowd, "blind", **music)
    await assert_survives(crowd, {"customer": "song" if song else "music", "target": ""})
    await crowd["target"].pick_up()
    await begun.wait_for_state("blind_transferred")
    await assert_handed_over(crowd)


async def test_a_transfer_that_is_answered(crowd: Parties) -> None:
    """Source and target talk on, the customer hears music; it is completed."""
    begun = await start_answered(crowd)
    await assert_survives(crowd, ANSWERED)
    await begun.complete()
    await assert_handed_over(crowd)


async def test_a_transfer_is_canceled_afterwards(crowd: Parties) -> None:
    """The source has the customer back."""
    begun = await start_answered(crowd)
    await crash(crowd.lab)
    await begun.cancel()
    await crowd["target"].wait_ended()
    await crowd.expect_audio(customer="source", source="customer")


@pytest.mark.parametrize("moment", ["together", "replied", "source gone"])
async def test_while_it_is_completed(crowd: Parties, moment: str) -> None:
    """Completed, or to be asked for again: nobody is left between the two."""
    begun = await start_answered(crowd)
    await crowd.expect_audio(**ANSWERED)
    if moment == "together":
        await asyncio.gather(begun.complete(), crowd.lab.engine.kill(), return_exceptions=True)
    else:
        await begun.complete()
        if moment == "source gone":
            await crowd["source"].wait_ended()
        await crowd.lab.engine.kill()
    await crowd.lab.engine.start()
    assert (await begun.complete())["state"] == "completed"
    await assert_handed_over(crowd)


@pytest.mark.parametrize(
    ("gone", "heard"),
    [
        ("source", {"customer": "target", "target": "customer"}),
        ("target", {"customer": "source", "source": "customer"}),
    ],
)
async def test_one_hangs_up_meanwhile(crowd: Parties, gone: str, heard: dict[str, str]) -> None:
    """Without the source it is completed, without the target it has failed."""
    begun = await start_answered(crowd)
    await crowd.expect_audio(**ANSWERED)
    await crowd.lab.engine.kill()
    await crowd[gone].hang_up()
    await crowd.lab.engine.start()
    await crowd.expect_audio(**heard)
    if gone == "source":
        await begun.wait_for_state("completed", "source_hangup_intentional")
    else:
        await begun.wait_for_state("failed", "target_hangup")


async def test_the_customer_hangs_up_meanwhile(crowd: Parties) -> None:
    """The next engine lets the others go."""
    begun = await start_answered(crowd)
    await crowd.expect_audio(**ANSWERED)
    await crowd.lab.engine.kill()
    await crowd["customer"].hang_up()
    await crowd.lab.engine.start()
    for name in ("source", "target"):
        await crowd[name].wait_ended()
    await begun.wait_for_state("abandoned", "customer_hangup")
