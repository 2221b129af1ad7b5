#!/usr/bin/env python3
"""Bounds the media cache of a PBX, which Asterisk itself never empties.

Runs beside Asterisk, as the same user: `sweep_media.py RUN_DIR`. Every minute it deletes the
prompts that were not played for a day, and the least recently played ones while all together are
above 2 GiB. PBX_MEDIA_CACHE_S and PBX_MEDIA_CACHE_BYTES set other limits. A prompt that is needed
again is fetched again.
"""

import os
import socket
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

MAX_AGE_S = 86_400.0
MAX_BYTES = 2 * 1024**3
INTERVAL_S = 60.0
IN_USE_S = 60.0  # since its last use; then a playback has opened it
TIMEOUT_S = 10.0


class Prompt(NamedTuple):
    """A cached file: its URI, when it was last read, and its size."""

    uri: str
    used_s: float
    size: int


def run_command(run_dir: Path, command: str) -> str:
    """Run a console command over Asterisk's control socket, as `asterisk -rx` does."""
    with socket.socket(socket.AF_UNIX) as control:
        control.settimeout(TIMEOUT_S)
        control.connect(str(run_dir / "asterisk.ctl"))
        control.sendall(f"cli quit after {command}\0".encode())
        output = bytearray()
        while chunk := control.recv(65_536):
            output += chunk
    return output.decode(errors="replace").replace("\0", "")


def listed(output: str) -> Iterator[tuple[str, Path]]:
    """Return the URI and the file of each prompt in the output of `media cache show all`."""
    uri = ""
    for line in output.splitlines():
        if line.startswith("\t") and uri:
            yield uri, Path(line.strip())
        uri = line.strip() if "://" in line and not line.startswith("\t") else ""


def prompts_of(entries: Iterable[tuple[str, Path]]) -> list[Prompt]:
    """Return the prompts; one without a file was never used, so that its entry is deleted."""
    found = []
    for uri, path in entries:
        try:
            status = path.stat()
        except FileNotFoundError:
            found.append(Prompt(uri, 0.0, 0))
        else:
            # Where files are mounted without times of access, the time of the fetch counts.
            found.append(Prompt(uri, max(status.st_atime, status.st_mtime), status.st_size))
    return found


def surplus(
    prompts: Iterable[Prompt], now_s: float, max_age_s: float, max_bytes: float
) -> list[str]:
    """Return the URIs of the prompts to delete, the least recently used ones first."""
    oldest_first = sorted(prompts, key=lambda prompt: prompt.used_s)
    total = sum(prompt.size for prompt in oldest_first)
    chosen = []
    for prompt in oldest_first:
        age_s = now_s - prompt.used_s
        if age_s <= max_age_s and (total <= max_bytes or age_s <= IN_USE_S):
            break
        chosen.append(prompt.uri)
        total -= prompt.size
    return chosen


def sweep(run_dir: Path, max_age_s: float = MAX_AGE_S, max_bytes: float = MAX_BYTES) -> int:
    """Delete what is too much; returns how many prompts. Raises OSError: Asterisk is away."""
    prompts = prompts_of(listed(run_command(run_dir, "media cache show all")))
    uris = surplus(prompts, time.time(), max_age_s, max_bytes)
    for uri in uris:
        run_command(run_dir, f"media cache delete {uri}")
    return len(uris)


def main() -> None:
    """Sweep until ended."""
    run_dir = Path(sys.argv[1])
    max_age_s = float(os.environ.get("PBX_MEDIA_CACHE_S") or MAX_AGE_S)
    max_bytes = float(os.environ.get("PBX_MEDIA_CACHE_BYTES") or MAX_BYTES)
    while True:
        with suppress(OSError):  # Asterisk starts or restarts
            sweep(run_dir, max_age_s, max_bytes)
        time.sleep(INTERVAL_S)


if __name__ == "__main__":
    main()
