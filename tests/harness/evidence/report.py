"""Writes what is known about a failed test into a folder, and returns it as sections of text."""

import asyncio
import re
import shutil
import zlib
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

from tests.harness.evidence.collector import Collector
from tests.harness.evidence.logs import last_lines
from tests.harness.evidence.machine import MachineUse
from tests.harness.evidence.sip_ladder import draw_sip

Section = tuple[str, str]
MAX_NAME = 150


def folder_of(root: Path, nodeid: str, when: str = "call") -> Path:
    """Return where the evidence of a test is; that of its end stands apart from its own."""
    name = re.sub(r"[^\w.=+-]+", "_", nodeid.removeprefix("tests/"))
    if "[" in nodeid:  # variants may differ in other characters, or at the end of long names
        name = f"{name[:MAX_NAME]}-{zlib.crc32(nodeid.encode()):08x}"
    return root / (f"{name}-{when}" if when == "teardown" else name)


def write_evidence(collector: Collector, folder: Path, logs: Path) -> list[Section]:
    """Write timelines, SIP, audio and the ends of logs; returns all but the audio."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    sections = [("machine", _machine(collector))]
    sections += [(f"timeline of {call}", text) for call, text in _timelines(collector).items()]
    if any(phone.messages for phone in collector.phones):
        sections.append(("SIP of the phones", _sip(collector)))
    sections += [
        (f"end of {name}", text) for name, text in last_lines(logs, collector.began_ms / 1000)
    ]
    for title, text in sections:
        name = re.sub(r"[^\w.-]+", "-", title)[-MAX_NAME:]
        (folder / f"{name}.txt").write_text(f"{text}\n")
    audio = _write_audio(collector, folder)
    return [("evidence", f"files in {folder}: {', '.join(audio) or 'no audio'}"), *sections]


def _machine(collector: Collector) -> str:
    lags = [
        f"{name}: at most {lag.worst_ms:.0f} ms late, {lag.late_ms:.0f} ms above the limit"
        for name, lag in sorted(collector.meter.lags.items())
    ]
    began = datetime.fromtimestamp(collector.began_ms / 1000, UTC)
    lines = (f"the test began at {began:%H:%M:%S.%f}", MachineUse.now().since(collector.use_before))
    return "\n".join((*lines, *lags))


def _timelines(collector: Collector) -> dict[str, str]:
    """Read the timelines in a thread: the test's event loops belong to this one."""
    found = dict(collector.timelines)
    running = [engine for engine in collector.engines if engine.running()]
    if not running:
        return found
    from tests.harness.evidence.timelines import read_timelines  # noqa: PLC0415 - only a failure needs the client

    with ThreadPoolExecutor(1) as thread:
        for engine in running:
            reading = read_timelines(engine, collector.began_ms)
            found = {**thread.submit(asyncio.run, reading).result(), **found}
    return found


def _sip(collector: Collector) -> str:
    return draw_sip(collector.phones, collector.began_monotonic_ms)


def _write_audio(collector: Collector, folder: Path) -> Sequence[str]:
    """Write what each phone has heard, and when each frame of it arrived; returns the names."""
    written = []
    for phone in collector.phones:
        if phone.frames:
            name = f"{phone.name}.wav"
            phone.write_wav(folder / name)
            frames = [
                f"{frame.at_ms - collector.began_monotonic_ms:.1f},{frame.stream},{frame.timestamp}"
                for frame in phone.frames
            ]
            text = "\n".join(("arrival_ms,stream,timestamp", *frames))
            (folder / f"{phone.name}.csv").write_text(f"{text}\n")
            written.append(name)
    return written
