"""Log lines: the keys of every line, and redacted values."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from base.logging import SECRET_KEYS, configure
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


def log_line(out: io.StringIO, **fields: str) -> str:
    """Log an error with fields from within an exception handler; return what is written."""
    configure("info", out)
    try:
        _fail_without_arguments()
    except ValueError:
        structlog.get_logger().exception("job failed", **fields)
    return out.getvalue()


def test_a_line_is_json() -> None:
    """For programs that read logs: one line for each event, with its traceback."""
    text = log_line(io.StringIO(), job="17")
    line = json.loads(text)
    assert (line["event"], line["level"], line["job"]) == ("job failed", "error", "17")
    assert line["exception"].endswith("ValueError: no such list")
    assert line["timestamp"].endswith("Z")


def test_a_terminal_gets_text() -> None:
    """For people: the traceback has lines of its own."""
    lines = log_line(Terminal(), job="17").splitlines()
    assert "job failed" in lines[0]
    assert lines[-1] == "ValueError: no such list"


@pytest.mark.parametrize("out", [io.StringIO(), Terminal()])
def test_secrets_are_redacted(out: io.StringIO) -> None:
    """The values of all such fields are replaced."""
    text = log_line(out, **dict.fromkeys(SECRET_KEYS, "hunter2"))
    assert "hunter2" not in text
    assert text.count("(left out)") == len(SECRET_KEYS)


def _fail_without_arguments() -> None:
    raise ValueError("no such list")
