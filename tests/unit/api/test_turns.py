"""Which engine is asked first, and which only when no other answers."""

from api.engine_client import COOLDOWN_S, EngineRotation


def test_engines_take_turns() -> None:
    """Each request begins at the next engine, and has all others behind it."""
    turns = EngineRotation(["http://a/", "http://b", "http://c"])
    orders = ["".join(url[-1] for url in turns) for _ in range(3)]
    assert sorted(orders) == ["abc", "bca", "cab"]


def test_who_failed_rests() -> None:
    """It is asked last for a while, also when all failed: then it is one like the others again."""
    now_s = [100.0]
    turns = EngineRotation(["http://a", "http://b"], lambda: now_s[0])
    turns.mark_failed("http://a")
    assert [list(turns) for _ in range(2)] == [["http://b", "http://a"]] * 2
    turns.mark_failed("http://b")
    assert {next(iter(turns)) for _ in range(2)} == {"http://a", "http://b"}
    now_s[0] += COOLDOWN_S
    assert {next(iter(turns)) for _ in range(2)} == {"http://a", "http://b"}
