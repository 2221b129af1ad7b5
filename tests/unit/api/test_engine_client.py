"""Which engine is asked first, and ids that are safe in a path."""

import pytest

from api.common.errors import NotFound
from api.engine_client import COOLDOWN_S, MAX_ID_CHARS, EngineRotation, call_path, id_in_path


def test_engines_take_turns() -> None:
    """One that has failed is asked last for a while."""
    now_s = [0.0]
    rotation = EngineRotation(["a/", "b", "c"], lambda: now_s[0])
    assert ["".join(rotation) for _ in range(4)] == ["bca", "cab", "abc", "bca"]
    rotation.mark_failed("b")
    now_s[0] = COOLDOWN_S - 1
    assert ["".join(rotation) for _ in range(3)] == ["cab", "acb", "cab"]
    rotation.mark_failed("a")
    assert "".join(rotation) == "cab"
    now_s[0] = COOLDOWN_S
    assert "".join(rotation) == "bca"


@pytest.mark.parametrize("text", ["a", "0-pbx1-00000000", "a_b.c-d", "x" * MAX_ID_CHARS])
def test_an_id_in_a_path(text: str) -> None:
    """It is there as it is."""
    assert id_in_path(text) == text
    assert call_path(text, "/mute") == f"/calls/{text}/mute"


@pytest.mark.parametrize(
    "text",
    ["", ".", "..", "a..b", ".a", "a/b", "a%2f", "a b", "å", "a\n", "x" * (MAX_ID_CHARS + 1)],
)
def test_what_no_id_is(text: str) -> None:
    """It leads to no other path."""
    with pytest.raises(NotFound):
        call_path(text)
