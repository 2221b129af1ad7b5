"""How a fault of streams is measured and judged."""

import json
from pathlib import Path

from msgspec.structs import replace

from tools.chaos.streams.callers.echoes import MARK_MS, EchoLog
from tools.chaos.streams.callers.listener import PROMPT_MS, ListenerNotice
from tools.chaos.streams.logs import unexpected_errors
from tools.chaos.streams.outcome import StreamLimits, StreamOutcome, lossy

GOOD = StreamOutcome(fault="engine_killed", live=40, silence_ms=60.0, delay_ms=40.0)
UNDERSTOOD = {"reason": "speech", "speech": "sales"}


def test_nothing_noticed() -> None:
    assert GOOD.misses(StreamLimits()) == ()


def test_what_was_noticed_is_named() -> None:
    """Every kind of it, and what remains afterwards."""
    bad = replace(GOOD, dropped=1, missing=2, unheard_ms=200.0, broken_prompts=1, left=3)
    assert bad.misses(StreamLimits()) == (
        "dropped", "broken prompts", "left", "2 echoes missing", "unheard > 0 ms",
    )  # fmt: skip
    slow = replace(GOOD, silence_ms=201.0, delay_ms=201.0, notes=("waited for it",))
    assert slow.misses(StreamLimits()) == ("silence > 200 ms", "delay > 200 ms", "waited for it")


def test_a_broken_connection_may_cost_echoes() -> None:
    """For a time, and twice that on a busy machine; nobody is dropped."""
    lost = replace(GOOD, missing=100, unheard_ms=1_500.0)
    assert lost.misses(lossy(1_000)) == ("unheard > 1000 ms",)
    assert lost.misses(lossy(1_000).scaled(2)) == ()
    assert replace(lost, dropped=1).misses(lossy(2_000)) == ("dropped",)


def test_echoes() -> None:
    """Those that are missing, and for how long without a break."""
    log = EchoLog()
    for number in range(10):
        echo = log.sent(number * 100.0)
        if number not in {2, 5, 6, 7}:
            echo.returned_ms = echo.sent_ms + 30 + number
    assert log.missing(0, 1_000) == [200, 500, 600, 700]
    assert log.missing(300, 600) == [500, 600]
    assert log.unheard_ms(0, 1_000) == 3 * MARK_MS
    assert log.unheard_ms(800, 1_000) == 0
    assert log.delay_ms(300) == 39
    assert log.has_returned(900)
    assert not log.has_returned(901)


def test_what_a_listener_noticed() -> None:
    """A prompt without a gap, and a word that the webhook gets once."""
    good = ListenerNotice("sales", PROMPT_MS, 4.0, [UNDERSTOOD])
    assert good.is_prompt_whole
    assert good.is_understood
    assert not replace(good, prompt_ms=PROMPT_MS - 100).is_prompt_whole
    assert not replace(good, longest_skip_ms=20.0).is_prompt_whole
    for answers in ([], [UNDERSTOOD] * 2, [{"reason": "no-match", "speech": "sales"}]):
        assert not replace(good, answers=answers).is_understood


def test_errors_of_logs(tmp_path: Path) -> None:
    """Tracebacks are errors, too; those that the fault explains are none."""
    lines = [
        json.dumps({"level": level, "event": event})
        for level, event in (("info", "up"), ("error", "node lost"), ("error", "call dropped"))
    ]
    path = tmp_path / "output.log"
    path.write_text("\n".join([*lines, "Traceback (most recent call last):"]))
    found = unexpected_errors({"engine1": path}, {"node lost"})
    assert found == ["engine1: call dropped", "engine1: Traceback (most recent call last):"]
