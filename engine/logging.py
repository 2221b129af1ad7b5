"""Logs, set up in one place: JSON lines, or words and colours where a person looks on.

Names are the field's own. A line about a call says `call_id`; its node and its slot stand in that
id, so they are put beside it here, on every such line. What a caller pressed or a customer keeps
secret is no line's business: it is taken out, should one ever name it.
"""

import logging
import sys
from typing import TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from engine.calls.model.ids import slot_and_node

SECRET = frozenset(
    {"authorization", "body", "custom_data", "data", "digit", "digits", "dtmf", "password", "token"}
)


def configure(level: str, out: TextIO = sys.stderr) -> None:
    """Send structlog's events to `out`, standard error unless another is given."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            add_location,
            redact,
            *_shown(out.isatty()),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(level.upper())),
        logger_factory=structlog.WriteLoggerFactory(out),
        cache_logger_on_first_use=True,
    )


def add_location(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Put node and slot beside a call's id, and leave out that there is none."""
    if line.get("call_id", "") is None:
        del line["call_id"]
    if where := slot_and_node(str(line.get("call_id", ""))):
        line["slot"], line["node"] = where
    return line


def redact(_logger: WrappedLogger, _method: str, line: EventDict) -> EventDict:
    """Take out what no log may hold."""
    for name in SECRET & line.keys():
        line[name] = "(left out)"
    return line


def _shown(to_people: bool) -> tuple[Processor, ...]:
    if to_people:
        # Not rich's tracebacks: they show local variables, and those hold what callers pressed.
        plain = structlog.dev.plain_traceback
        return (structlog.dev.ConsoleRenderer(exception_formatter=plain),)
    return (structlog.processors.format_exc_info, structlog.processors.JSONRenderer())
