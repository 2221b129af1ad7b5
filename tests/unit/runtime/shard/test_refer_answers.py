"""Answers to REFERs wait until Asterisk can take them."""

from msgspec.structs import replace

from engine.calls.model.commands import AnswerRefer, Hangup
from engine.runtime.shard.refer_answers import ANSWER_DELAY_MS
from tests.harness.calls.builders import MAIN
from tests.harness.runtime.executor_scene import ExecutorScene

IN_PROGRESS = AnswerRefer(MAIN, True, "in-progress")
ACCEPTED = AnswerRefer(MAIN, accepted=True)
DECLINED = AnswerRefer(MAIN, accepted=False)
HANGUP = Hangup(MAIN, 16)
NOTIFIES, HANGS_UP = f"POST channels/{MAIN}/transfer_progress", f"DELETE channels/{MAIN}"


def test_an_answer_waits_and_so_does_the_hangup_after_it() -> None:
    """A hangup that overtakes it would tell the phone of a failure."""
    scene = ExecutorScene(ACCEPTED, HANGUP)
    scene.clock.pass_ms(ANSWER_DELAY_MS - 1)
    assert scene.pbx.lines == []
    scene.clock.pass_ms(1)
    assert scene.pbx.lines == [NOTIFIES, HANGS_UP]
    scene.execute(HANGUP)
    assert scene.pbx.lines[2:] == [HANGS_UP]


def test_each_answer_waits_for_itself() -> None:
    """The phone may send a second REFER while the answer to the first one waits."""
    scene = ExecutorScene(DECLINED)
    scene.clock.pass_ms(ANSWER_DELAY_MS - 1)
    scene.execute(IN_PROGRESS, HANGUP)
    scene.clock.pass_ms(1)
    assert scene.pbx.lines == [NOTIFIES]
    scene.clock.pass_ms(ANSWER_DELAY_MS - 1)
    assert scene.pbx.lines == [NOTIFIES, NOTIFIES, HANGS_UP]
    assert scene.counts.refers_declined.total == 1


def test_an_answer_to_a_phone_that_has_left_is_not_sent() -> None:
    """Nor is it repeated by a recovery."""
    scene = ExecutorScene(IN_PROGRESS)
    scene.live_call.call = replace(scene.live_call.call, legs=())
    scene.clock.pass_ms(ANSWER_DELAY_MS)
    assert (scene.pbx.lines, scene.live_call.outbox.commands) == ([], ())


def test_an_answer_is_sent_once_despite_a_recovery() -> None:
    """The recovery executes the commands that were not sent."""
    scene = ExecutorScene(IN_PROGRESS)
    scene.executor.execute(scene.live_call, scene.live_call.recover((IN_PROGRESS,)))
    scene.clock.pass_ms(2 * ANSWER_DELAY_MS)
    assert scene.pbx.lines == [NOTIFIES]
