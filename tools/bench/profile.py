"""Profiles a running engine with py-spy."""

import asyncio
import sys
from collections import Counter
from pathlib import Path

TOP = 40
RATE_HZ = 500
WAITING = ("epoll_pwait", "_queue_SimpleQueue_get")  # idle


async def profile(pid: int, seconds: float, out: Path) -> None:
    """Sample a process and write its functions by own time and by time with callees.

    Raises RuntimeError if py-spy may not attach (it needs ptrace, that is, root).
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    raw = out.with_suffix(".raw")
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("py-spy")),
        *("record", "--native", "-f", "raw", "-o", str(raw), "-d", str(int(seconds))),
        *("-r", str(RATE_HZ), "-p", str(pid)),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    _, complaint = await process.communicate()
    if process.returncode != 0:
        raise RuntimeError(f"py-spy: {complaint.decode()[-500:]}")
    text = await asyncio.to_thread(raw.read_text)
    await asyncio.to_thread(out.write_text, summary(text))


def summary(raw: str) -> str:
    """Count samples of collapsed stacks (lines `a;b;c 12`), without idle ones."""
    native, own, whole = Counter[str](), Counter[str](), Counter[str]()
    for line in raw.splitlines():
        stack, _, count = line.rpartition(" ")
        frames = [_short(frame) for frame in stack.split(";")]
        if any(frame.startswith(WAITING) for frame in frames):
            continue
        native[frames[-1]] += int(count)
        own[_python(frames)] += int(count)
        for frame in set(frames):
            whole[frame] += int(count)
    lists = {"Python functions, including C code below them": own, "all functions": native}
    lists["with callees"] = whole
    return "\n".join(line for title, counted in lists.items() for line in _listed(title, counted))


def _python(frames: list[str]) -> str:
    return next((frame for frame in reversed(frames) if ".py)" in frame), frames[-1])


def _listed(title: str, counted: Counter[str]) -> list[str]:
    total = counted.total() if title != "with callees" else max(counted.values(), default=1)
    rows = [f"{count / max(total, 1):7.1%}  {name}" for name, count in counted.most_common(TOP)]
    return [f"{title}, of {total} samples at {RATE_HZ} a second", *rows, ""]


def _short(frame: str) -> str:
    name, _, place = frame.partition(" (")
    path = place.rstrip(")").rpartition(":")[0] or place.rstrip(")")
    return f"{name} ({'/'.join(path.split('/')[-3:])})"
