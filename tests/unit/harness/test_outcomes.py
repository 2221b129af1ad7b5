"""How a fault's outcome is judged."""

from msgspec.structs import replace

from tools.chaos.outcome import Limits, Outcome

LIMITS = Limits(control_ms=3_000, unowned_ms=250)
GOOD = Outcome(
    fault="engine_stopped",
    live=200,
    lost=0,
    unowned_ms=12.0,
    control_ms=120.0,
    executed_ms=140.0,
    new=0,
    failed=0,
    missing_digits=3,
    duplicated=0,
    missing=0,
    orphans=0,
)


def test_nothing_missed() -> None:
    """Quick and complete is good; digits that no engine could have kept are no fault."""
    assert GOOD.misses(LIMITS) == ()


def test_what_was_lost_is_named() -> None:
    """Whatever is lost, duplicated or left behind is named, and so is what took too long."""
    bad = replace(GOOD, lost=1, orphans=2, control_ms=3_001.0, notes=("waited for it",))
    assert bad.misses(LIMITS) == ("lost", "orphans", "control > 3000 ms", "waited for it")
    late = replace(GOOD, unowned_ms=251.0)
    assert late.misses(LIMITS) == ("no owner > 250 ms",)
