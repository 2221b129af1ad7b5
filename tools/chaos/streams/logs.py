"""Error lines in the logs of our programs, but those that a fault explains."""

import json
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

ERRORS = ("error", "critical")
FOREIGN = "[W:onnxruntime:"  # warnings of a library about this machine


def unexpected_errors(logs: Mapping[str, Path], expected: Collection[str]) -> list[str]:
    """Return the program and event of each error line, and lines that are no log event."""
    return [
        f"{program}: {event}"
        for program, path in logs.items()
        for event in _errors(path)
        if event not in expected
    ]


def _errors(path: Path) -> Iterator[str]:
    for line in path.read_text(errors="replace").splitlines():
        try:
            event = json.loads(line)
        except ValueError:
            if FOREIGN not in line:
                yield line
            continue
        if event["level"] in ERRORS:
            yield event["event"]
