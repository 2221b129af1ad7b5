"""Log configuration: JSON lines, or coloured text on a terminal.

Credentials and customer data are never logged.
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
    """Send structlog's events to `out`."""
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
    """Replace secret values."""
    for name in SECRET_KEYS & line.keys():
        line[name] = "(left out)"
    return line
