"""The outbox: one list of a call's commands, with how far each has got."""

from engine.calls.model.commands import Play, StartHoldMusic, StartRinging, StopHoldMusic
from engine.runtime.shard.outbox import CommandState, Outbox, mark_committed
from tests.harness.calls.builders import MAIN, outbound
from tests.harness.runtime.executor_scene import ExecutorScene
from tests.harness.runtime.shard_scene import ShardScene

PROMPT = Play(MAIN, "p1", (), 0)


def test_a_command_moves_from_state_to_state() -> None:
    """Uncommitted, committed, queued behind another command, sent, and done."""
    scene = ExecutorScene(StartRinging(MAIN))
    outbox = scene.live_call.outbox
    (prompt,) = outbox.add([PROMPT])
    states = [prompt.state]
    mark_committed([prompt])
    states.append(prompt.state)
    scene.executor.execute(scene.live_call, [prompt])
    states.append(prompt.state)
    scene.pbx.reply()
    states.append(prompt.state)
    scene.pbx.reply()
    assert [*states, prompt.state] == list(CommandState)
    assert outbox.commands == ()


def test_only_a_sent_prompt_may_have_been_heard() -> None:
    """A recovery plays the others; of this one it asks the PBX."""
    scene = ExecutorScene(StartRinging(MAIN))
    (prompt,) = scene.live_call.outbox.add([PROMPT])
    for state in list(CommandState)[:-1]:
        prompt.state = state
        is_unsent = "p1" in scene.live_call.unsent_playbacks()
        assert is_unsent == (state is not CommandState.SENT)


def test_the_first_of_equal_commands_is_not_taken_for_the_last() -> None:
    """Music may be started, stopped and started again."""
    outbox = Outbox()
    first, stop, last = outbox.add(
        [StartHoldMusic(MAIN), StopHoldMusic(MAIN), StartHoldMusic(MAIN)]
    )
    outbox.finish(last)
    assert list(outbox) == [first, stop]


def test_a_recovery_repeats_what_is_committed() -> None:
    """What waits for its commit is executed after it; what is obsolete is not executed at all."""
    outbox = Outbox([StartRinging(MAIN)])
    (committed,) = outbox
    assert committed.state is CommandState.SENT, "its last owner may have sent it"
    waiting, obsolete = outbox.add([StartHoldMusic(MAIN), PROMPT])
    assert outbox.recover([committed.command, waiting.command]) == [committed]
    assert (committed.is_repeated, committed.state) == (True, CommandState.COMMITTED)
    assert (waiting.is_repeated, waiting.state) == (False, CommandState.UNCOMMITTED)
    assert mark_committed([waiting, obsolete]) == [waiting]


def test_a_dropped_call_executes_nothing() -> None:
    """Its commands stay stored for a later look at its end."""
    scene = ShardScene()
    scene.writer.at_once = False
    live_call = scene.shard.start_call(outbound())
    with scene.shard.guard(live_call, "test"):
        raise ValueError
    scene.writer.commit()
    assert scene.pbx.lines == [f"DELETE channels/{MAIN}"]
