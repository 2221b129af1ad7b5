"""Handover of a slot: customers' responses in flight are used, and no request is repeated."""

import asyncio

from engine.calls.model.call_states import AwaitingInstructions
from engine.calls.model.events import LegAnswered, LegEnded, LegRinging
from engine.calls.model.io_commands import FetchMedia, SendWebhook
from engine.calls.model.io_results import ActionReceived, MediaFetched
from engine.runtime.shard.live_call import LiveCall
from engine.runtime.shard.outbox import CommandState
from tests.harness.calls.builders import CLIPS, HTTPS, MAIN, outbound, say, tree
from tests.harness.runtime.shard_scene import ShardScene, answered_call

WEBHOOK = HTTPS + "/next"


def test_a_response_during_the_handover_is_used() -> None:
    """The next owner finds the call after its webhook, and does not send it again."""
    scene = ShardScene()
    live_call = answered_call(scene, WEBHOOK)
    command, done = scene.io.running[0]
    assert isinstance(command, SendWebhook)
    scene.shard.begin_handover()
    assert scene.shard.is_paused
    done(ActionReceived(command.request, tree(say())))
    assert not isinstance(live_call.call.state, AwaitingInstructions)
    assert [each for each in live_call.outbox.commands if isinstance(each, SendWebhook)] == []
    assert scene.shard.pause_buffer.events == []
    assert isinstance(scene.io.running[-1][0], FetchMedia)


def test_a_webhook_that_is_committed_during_the_handover_is_left() -> None:
    """It stays in the outbox: the next owner sends it, once."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(WEBHOOK))
    scene.pbx.settle()
    scene.writer.at_once = False
    scene.shard.feed(live_call, LegAnswered(MAIN))
    scene.shard.begin_handover()
    scene.writer.commit()
    assert scene.io.running == []
    assert [type(each) for each in live_call.outbox.commands] == [SendWebhook]


def test_other_events_wait_for_the_next_owner() -> None:
    """It finds them by comparing the call with the PBX."""
    scene = ShardScene()
    live_call = scene.shard.start_call(outbound(WEBHOOK))
    scene.shard.begin_handover()
    before = live_call.call
    scene.shard.feed(live_call, LegRinging(MAIN))
    assert live_call.call is before


def test_a_response_to_a_shard_that_had_missed_events_is_not_used() -> None:
    """What was missed comes first: the next owner finds it, and sends the webhook again."""
    scene = ShardScene()
    live_call = answered_call(scene, WEBHOOK)
    command, done = scene.io.running[0]
    scene.shard.pause()
    scene.shard.begin_handover()
    before = live_call.call
    done(ActionReceived(command.request, tree(say())))
    assert live_call.call is before


async def test_the_handover_waits_for_every_response() -> None:
    """Responses to calls that have ended count, too."""
    scene = ShardScene()
    calls: list[LiveCall] = [answered_call(scene, WEBHOOK)]
    command, done = scene.io.running[0]
    scene.shard.begin_handover()
    waiting = asyncio.create_task(scene.shard.wait_for_customers())
    await asyncio.sleep(0)
    assert not waiting.done()
    scene.shard.feed(calls[0], LegEnded(MAIN, 16))
    done(ActionReceived(command.request, None))
    async with asyncio.timeout(5):
        await waiting


async def test_nothing_in_flight() -> None:
    """The handover goes on at once."""
    scene = ShardScene()
    answered_call(scene)
    scene.shard.begin_handover()
    async with asyncio.timeout(5):
        await scene.shard.wait_for_customers()


def playing(scene: ShardScene) -> LiveCall:
    """Let a prompt wait for its commit."""
    live_call = answered_call(scene, say())
    fetch, done = scene.io.running.pop()
    assert isinstance(fetch, FetchMedia)
    scene.writer.at_once = False
    done(MediaFetched(fetch.request, CLIPS[:1]))
    return live_call


def plays(scene: ShardScene) -> list[str]:
    """List the requests of prompts."""
    return [each for each in scene.pbx.lines if each.startswith(f"POST channels/{MAIN}/play")]


def test_a_prompt_that_is_committed_during_the_handover_is_played() -> None:
    """The next owner may come when the prompt's time is over, and would take it for heard."""
    scene = ShardScene()
    playing(scene)
    scene.shard.begin_handover()
    assert plays(scene) == []
    scene.writer.commit()
    assert len(plays(scene)) == 1


def test_a_prompt_is_held_back_if_the_node_disconnects_during_the_handover() -> None:
    """This engine's recovery, or the next owner's, may play it."""
    scene = ShardScene()
    live_call = playing(scene)
    scene.shard.begin_handover()
    scene.shard.mark_gap()
    scene.writer.commit()
    assert plays(scene) == []
    assert len(live_call.outbox.find(CommandState.COMMITTED)) == 1


async def test_the_handover_waits_until_the_pbx_has_all_commands() -> None:
    """A command waits for the reply to the one before it."""
    scene = ShardScene()
    playing(scene)
    scene.writer.commit()
    scene.shard.begin_handover()
    waiting = asyncio.create_task(scene.shard.wait_for_pbx())
    await asyncio.sleep(0)  # a turn of the loop, not a time
    assert not waiting.done()
    scene.pbx.settle()
    async with asyncio.timeout(5):
        await waiting
