"""Round-robin over engines, with a cooldown after failures."""

from api.engine_client import COOLDOWN_S, EngineRotation


def test_engines_take_turns() -> None:
    """Each request starts at the next engine, followed by all others."""
    turns = EngineRotation(["http://a/", "http://b", "http://c"])
    orders = ["".join(url[-1] for url in turns) for _ in range(3)]
    assert sorted(orders) == ["abc", "bca", "cab"]


def test_a_failed_engine_cools_down() -> None:
    """It comes last during its cooldown, also when all have failed."""
    now_s = [100.0]
    turns = EngineRotation(["http://a", "http://b"], lambda: now_s[0])
    turns.mark_failed("http://a")
    assert [list(turns) for _ in range(2)] == [["http://b", "http://a"]] * 2
    turns.mark_failed("http://b")
    assert {next(iter(turns)) for _ in range(2)} == {"http://a", "http://b"}
    now_s[0] += COOLDOWN_S
    assert {next(iter(turns)) for _ in range(2)} == {"http://a", "http://b"}
