"""Log lines: what stands on each, and what never does."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from engine.logging import configure


class Terminal(io.StringIO):
    """Somebody looks on."""

    def isatty(self) -> bool:
        """Be a terminal."""
        return True


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    yield
    structlog.reset_defaults()


def test_a_line_about_a_call_says_node_and_slot() -> None:
    """They stand in the call's id, so no line has to name them; others keep what they said."""
    out = io.StringIO()
    configure("info", out)
    log = structlog.get_logger()
    log.info("call dropped", call_id="3-pbx1-0123456789")
    log.info("node away", node="pbx2", slot=5)
    log.info("reaped", call_id=None, node="pbx2")
    about_call, about_node, about_none = map(json.loads, out.getvalue().splitlines())
    assert "call_id" not in about_none
    assert (about_call["node"], about_call["slot"]) == ("pbx1", 3)
    assert (about_node["node"], about_node["slot"]) == ("pbx2", 5)
    assert {"event", "level", "timestamp"} <= about_call.keys()


def test_digits_and_secrets_are_left_out() -> None:
    """Whoever names one in a line finds it left out."""
    for out in (io.StringIO(), Terminal()):
        configure("info", out)
        structlog.get_logger().info("pressed", digit="4711", password="hunter2", dtmf="0815")  # noqa: S106 - no one's
        assert not {"4711", "hunter2", "0815"} & set(out.getvalue().replace("=", " ").split())
        assert "left out" in out.getvalue()


def test_a_fault_in_a_terminal_shows_no_variables() -> None:
    """A traceback names the lines, never what variables held: that may be what a caller pressed."""
    out = Terminal()
    configure("info", out)
    digits = "4711"
    try:
        _fails(digits)
    except ValueError:
        structlog.get_logger().exception("call dropped")
    assert "Traceback" in out.getvalue()
    assert "4711" not in out.getvalue()
    assert "{" not in out.getvalue().splitlines()[0]  # words, not JSON


def test_quiet_levels_are_not_written() -> None:
    """Below the level that was set, nothing is written."""
    out = io.StringIO()
    configure("warning", out)
    structlog.get_logger().info("engine up")
    assert not out.getvalue()


def _fails(digits: str) -> None:
    raise ValueError(len(digits))
