"""Log lines: the keys of every line, and redacted values."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from engine.logging import configure
from tests.harness.terminal import Terminal


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    before = structlog.get_config()  # not the defaults: rich's tracebacks would cost seconds
    yield
    structlog.configure(**before)


def test_a_line_about_a_call_has_node_and_slot() -> None:
    """They are part of the call's id; other lines are not changed."""
    out = io.StringIO()
    configure("info", out)
    log = structlog.get_logger()
    log.info("call dropped", call_id="3-pbx1-0123456789")
    log.info("node disconnected", node="pbx2", slot=5)
    log.info("orphan removed", call_id=None, node="pbx2")
    about_call, about_node, about_none = map(json.loads, out.getvalue().splitlines())
    assert "call_id" not in about_none
    assert (about_call["node"], about_call["slot"]) == ("pbx1", 3)
    assert (about_node["node"], about_node["slot"]) == ("pbx2", 5)
    assert {"event", "level", "timestamp"} <= about_call.keys()


def test_digits_and_secrets_are_redacted() -> None:
    """Their values are replaced."""
    for out in (io.StringIO(), Terminal()):
        configure("info", out)
        structlog.get_logger().info("digit pressed", digit="4711", password="hunter2", dtmf="0815")  # noqa: S106 - no one's
        assert not {"4711", "hunter2", "0815"} & set(out.getvalue().replace("=", " ").split())
        assert "left out" in out.getvalue()


def test_a_traceback_on_a_terminal_shows_no_variables() -> None:
    """It shows lines, and no values: they may contain pressed digits."""
    out = Terminal()
    configure("info", out)
    digits = "4711"
    try:
        _fail(digits)
    except ValueError:
        structlog.get_logger().exception("call dropped")
    assert "Traceback" in out.getvalue()
    assert "4711" not in out.getvalue()
    assert "{" not in out.getvalue().splitlines()[0]  # text, not JSON


def test_lower_levels_are_not_written() -> None:
    """Nothing is written below the configured level."""
    out = io.StringIO()
    configure("warning", out)
    structlog.get_logger().info("engine up")
    assert not out.getvalue()


def _fail(digits: str) -> None:
    raise ValueError(len(digits))
