"""Log lines of the REST layer: JSON, or text on a terminal, without secrets."""

import io
import json
from collections.abc import Iterator

import pytest
import structlog

from api.logging import SECRET_KEYS, configure_logging
from tests.harness.terminal import Terminal


@pytest.fixture(autouse=True)
def _reset() -> Iterator[None]:
    before = structlog.get_config()  # not the defaults: rich's tracebacks would cost seconds
    yield
    structlog.configure(**before)


def log_line(out: io.StringIO, **fields: str) -> str:
    """Log an error with fields from within an exception handler; return what is written."""
    configure_logging("info", out)
    try:
        _fail()
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


def test_lower_levels_are_not_logged() -> None:
    """Nothing is written below the configured level."""
    out = io.StringIO()
    configure_logging("warning", out)
    structlog.get_logger().info("migrated")
    structlog.get_logger().warning("job poll failed")
    assert [json.loads(line)["event"] for line in out.getvalue().splitlines()] == [
        "job poll failed"
    ]


def _fail() -> None:
    raise ValueError("no such list")
