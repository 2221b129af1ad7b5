"""Configures logs: JSON lines, or coloured text on a terminal.

Lines about a call have a `call_id`; the node and slot that it contains are added as keys of their
own. Pressed digits and customers' secrets are redacted, should a line ever contain them.
"""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from wire.call_id_format import shard_of

SECRET_KEYS = frozenset(
    {"api_key", "api_secret", "authorization", "body", "custom_data", "data", "digit", "digits"}
    | {"dtmf", "password", "token"}
)


def configure(level: str, out: TextIO = sys.stderr) -> None:
    """Send structlog's events to `out`."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            add_location,
            redact,
            *_renderers(out.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )


def add_location(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Add the node and slot of a call id; remove an empty call id."""
    if line.get("call_id", "") is None:
        del line["call_id"]
    if shard := shard_of(str(line.get("call_id", ""))):
        line["slot"], line["node"] = shard.slot, shard.node
    return line


def redact(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Replace values that no log may contain."""
    for name in SECRET_KEYS & line.keys():
        line[name] = "(left out)"
    return line


def _renderers(is_terminal: bool) -> tuple[Processor, ...]:
    if is_terminal:
        # Not rich's tracebacks: they show local variables, which may contain pressed digits.
        plain = structlog.dev.plain_traceback
        return (structlog.dev.ConsoleRenderer(exception_formatter=plain),)
    return (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
