"""Variants take turns, and figures are medians over their rounds."""

import math

from tools.bench.ivr.load import Outcome
from tools.bench.ivr.measurement import Round
from tools.bench.ivr.phone import Waits
from tools.bench.ivr.rounds import anchored_figures, cpu_of, digit_wait, middle, take_turns
from tools.bench.ivr.variants import Variant


def _round(
    cpu_ms: dict[str, float], digit_ms: float = 1.0, failed: int = 0, refused: int = 0
) -> Round:
    return Round(Outcome(100, failed, refused), cpu_ms, (Waits(2.0, digit_ms),) * 3, ())


async def test_variants_take_turns() -> None:
    """All variants are measured in each cycle, so a slow minute meets each of them."""
    measured = []

    async def measure(variant: Variant) -> Round:
        measured.append(variant.name)
        return _round({})

    rounds = await take_turns(measure, cycles=2)
    assert measured == ["dialplan", "bare", "engine"] * 2
    assert {name: len(each) for name, each in rounds.items()} == dict.fromkeys(measured, 2)


def test_the_median_ignores_a_round_that_was_disturbed() -> None:
    """One slow round of three does not change the result."""
    rounds = [_round({"engine": value}, digit_ms=value) for value in (4.0, 40.0, 5.0)]
    assert middle(rounds, cpu_of("engine")) == 5.0
    assert middle(rounds, digit_wait(99)) == 5.0


def test_a_round_without_probes_has_no_waits() -> None:
    """Rounds in which no probe was heard are left out; without any there is no value."""
    unheard = Round(Outcome(100, 0, 0), {}, (), ("no answer",))
    assert middle([unheard, _round({}, digit_ms=3.0)], digit_wait(50)) == 3.0
    assert math.isnan(middle([unheard], digit_wait(50)))


def test_the_bare_application_is_the_baseline() -> None:
    """Engine and dialplan have the bare application beside them, in costs, waits and failures."""
    rounds = {
        "dialplan": [_round({"asterisk": 10.0, "valkey": 0.0}, digit_ms=1.0)],
        "bare": [_round({"asterisk": 12.5, "bare": 2.0, "valkey": 0.0}, digit_ms=3.0)],
        "engine": [
            _round({"asterisk": 12.0, "engine": 6.0, "valkey": 1.5, "rest": 2.5}, 6.0, 2, 3)
        ],
    }
    found = {
        each.name.removeprefix("b."): (each.value, each.baseline, each.ratio)
        for each in anchored_figures("b", rounds)
    }
    assert found["engine_cpu"] == (6.0, 2.0, 3.0)
    assert found["valkey_cpu"] == (1.5, None, None)
    assert found["rest_cpu"] == (2.5, None, None)
    assert found["asterisk_cpu"] == (12.0, 12.5, 0.96)
    assert found["asterisk_cpu_of_dialplan"] == (10.0, 12.5, 0.8)
    assert found["engine_to_asterisk"] == (0.5, 0.16, 3.12)
    assert found["asterisk_to_dialplan"] == (1.2, 1.25, 0.96)
    assert found["digit_to_prompt_p99"] == (6.0, 3.0, 2.0)
    assert found["digit_to_prompt_p50_of_dialplan"] == (1.0, 3.0, 0.33)
    assert found["failures"] == (5, 0, None)
    assert found["calls"] == (103, 103, 1.0)
