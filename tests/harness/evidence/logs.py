"""The last lines of the logs that a test's servers have written to."""

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

LINES = 100
MAX_BYTES = 100_000  # read from the end of a file
MAX_WIDTH = 400  # characters of a line
MAX_FILES = 15


def last_lines(folder: Path, since_s: float) -> Iterator[tuple[str, str]]:
    """Yield name and last lines of each log below a folder that was written to since a time."""
    recent = sorted(each for each in _logs(folder) if each[0] >= since_s)
    for _, path in recent[-MAX_FILES:]:
        with suppress(OSError):
            yield str(path.relative_to(folder)), _tail(path)


def _logs(folder: Path) -> Iterator[tuple[float, Path]]:
    """Yield each log that has lines, and when it was written to; some are just being deleted."""
    for path in folder.rglob("*.log"):
        with suppress(OSError):
            status = path.stat()
            if path.is_file() and status.st_size:
                yield status.st_mtime, path


def _tail(path: Path) -> str:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - MAX_BYTES))
        lines = file.read().decode(errors="replace").splitlines()
    return "\n".join(line[:MAX_WIDTH] for line in lines[-LINES:])
