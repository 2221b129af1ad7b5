"""Logs, set up in one place: JSON lines, or words and colours where a person looks on.

What lets somebody in, and what customers keep with a call, is no line's business.
"""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, WrappedLogger

SECRET_KEYS = frozenset(
    {"authorization", "api_key", "api_secret", "body", "custom_data", "password", "token"}
)


def configure_logging(level: str, out: TextIO = sys.stderr) -> None:
    """Send structlog's events to `out`, standard error unless another is given."""
    shown = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if out.isatty()
        else structlog.processors.JSONRenderer()
    )
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            redact,
            *(() if out.isatty() else (structlog.processors.format_exc_info,)),
            shown,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )


def redact(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Take out what no log may hold."""
    for name in SECRET_KEYS & line.keys():
        line[name] = "(left out)"
    return line
