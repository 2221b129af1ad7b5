"""Answers to REFERs wait until Asterisk can take them."""

from msgspec.structs import replace

from engine.calls.model.commands import AnswerRefer, Hangup
from engine.runtime.shard.refer_answers import ANSWER_DELAY_MS
from tests.unit.calls.harness.builders import MAIN
from tests.unit.runtime.harness.executor_bench import ExecutorBench

IN_PROGRESS = AnswerRefer(MAIN, True, "in-progress")
ACCEPTED = AnswerRefer(MAIN, accepted=True)
DECLINED = AnswerRefer(MAIN, accepted=False)
HANGUP = Hangup(MAIN, 16)
NOTIFIES, HANGS_UP = f"POST channels/{MAIN}/transfer_progress", f"DELETE channels/{MAIN}"


def test_an_answer_waits_and_so_does_the_hangup_after_it() -> None:
    """A hangup that overtakes it would tell the phone of a failure."""
    bench = ExecutorBench(ACCEPTED, HANGUP)
    bench.clock.pass_ms(ANSWER_DELAY_MS - 1)
    assert bench.pbx.lines == []
    bench.clock.pass_ms(1)
    assert bench.pbx.lines == [NOTIFIES, HANGS_UP]
    bench.executor.execute(bench.live_call, (HANGUP,))
    assert bench.pbx.lines[2:] == [HANGS_UP]


def test_each_answer_waits_for_itself() -> None:
    """The phone may send a second REFER while the answer to the first one waits."""
    bench = ExecutorBench(DECLINED)
    bench.clock.pass_ms(ANSWER_DELAY_MS - 1)
    bench.executor.execute(bench.live_call, (IN_PROGRESS, HANGUP))
    bench.clock.pass_ms(1)
    assert bench.pbx.lines == [NOTIFIES]
    bench.clock.pass_ms(ANSWER_DELAY_MS - 1)
    assert bench.pbx.lines == [NOTIFIES, NOTIFIES, HANGS_UP]


def test_an_answer_to_a_phone_that_has_left_is_not_sent() -> None:
    """Nor is it repeated by a recovery."""
    bench = ExecutorBench(IN_PROGRESS)
    bench.live_call.call = replace(bench.live_call.call, legs=())
    bench.clock.pass_ms(ANSWER_DELAY_MS)
    assert (bench.pbx.lines, bench.live_call.outbox) == ([], [])


def test_an_answer_is_sent_once_despite_a_recovery() -> None:
    """The recovery executes the commands that were not sent."""
    bench = ExecutorBench(IN_PROGRESS)
    bench.executor.execute(bench.live_call, bench.live_call.recover((IN_PROGRESS,)))
    bench.clock.pass_ms(2 * ANSWER_DELAY_MS)
    assert bench.pbx.lines == [NOTIFIES]
