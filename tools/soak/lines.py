"""Lines: SIPp processes whose phones call one number, or are called, and write a log."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from dev.servers.ports import is_udp_bound
from dev.servers.process import Process
from tests.harness.ports import free_port, media_port
from tests.harness.until import until
from tools.bench.ivr.rtp import caller, write_pcap
from tools.soak.kinds import Digits, Kind

SCENARIOS = Path(__file__).with_name("sipp")
CALLEE_MS = (4_000, 12_000)  # until a callee that leaves hangs up
DRAIN_S = 60  # for the last calls of a line
_callers = itertools.count(15_560_000_001)


class PhoneCall(Struct):
    """What a phone has logged of one call, in milliseconds of its own clock.

    `ended` is local if it hung up, remote if it was hung up, busy or canceled; empty if it did not
    see an end.
    """

    caller: str
    answered_ms: int = 0
    ended: str = ""
    ended_ms: int = 0


class Line(Struct, frozen=True):
    """Calls of one kind, of which `live` are in progress at any time."""

    kind: Kind
    number: str
    digits: Digits
    sip_port: int
    live: int
    seconds: float


async def run_line(line: Line, folder: Path) -> list[PhoneCall]:
    """Place a line's calls, wait until they have ended, and return what each phone saw."""
    count = max(line.live, int(line.live * line.seconds / line.kind.mean_s))
    numbers = [str(next(_callers)) for _ in range(count)]
    await asyncio.to_thread(_write_files, line, numbers, folder)
    rate = (str(max(1, round(line.live / line.kind.mean_s * 1.5))), "1000")
    if line.live == 1:  # an agent: its last call must have ended everywhere
        rate = ("1", str(int(line.kind.mean_s * 1_500)))
    argv = (
        *("sipp", f"127.0.0.1:{line.sip_port}", "-sf", "scenario.xml", "-inf", "callers.csv"),
        *("-r", rate[0], "-rp", rate[1], "-m", str(count), "-l", str(line.live)),
        *_common(free_port()),
    )
    sipp = Process.start(argv, log=folder / "sipp.log", cwd=folder)
    try:
        timeout_s = 2 * line.seconds + DRAIN_S
        await until(lambda: not sipp.alive(), timeout_s=timeout_s, every_s=0.5, what=str(folder))
    finally:
        await sipp.kill()
    logged = await asyncio.to_thread(read_log, folder)
    return [logged.get(each, PhoneCall(each)) for each in numbers]


@asynccontextmanager
async def callees(folder: Path, port: int) -> AsyncIterator[None]:
    """Answer calls on a port as sipp/callee.xml says."""
    values: dict[str, object] = {"MIN_MS": CALLEE_MS[0], "MAX_MS": CALLEE_MS[1]}
    await asyncio.to_thread(_write_scenario, folder, "callee.xml", values)
    argv = ("sipp", "-sf", "scenario.xml", *_common(port))
    sipp = Process.start(argv, log=folder / "sipp.log", cwd=folder)
    try:
        await until(lambda: is_udp_bound(port), what="SIPp")
        yield
    finally:
        await sipp.kill()


def read_log(folder: Path) -> dict[str, PhoneCall]:
    """Return what the phones of a folder have logged, by the caller's number."""
    found: dict[str, PhoneCall] = {}
    log = folder / "phones.log"
    for line in log.read_text().splitlines() if log.exists() else ():
        what, number, at_ms = line.split()
        call = found.setdefault(number, PhoneCall(number))
        if what == "answered":
            call.answered_ms = int(at_ms)
        else:
            call.ended, call.ended_ms = what, int(at_ms)
    return found


def _write_files(line: Line, numbers: list[str], folder: Path) -> None:
    end_steps = (SCENARIOS / ("leaves.xml" if line.kind.stay_ms else "stays.xml")).read_text()
    low_ms, high_ms = line.kind.stay_ms or (0, 0)
    values = {"NUMBER": line.number, "END": end_steps, "MIN_MS": low_ms, "MAX_MS": high_ms}
    _write_scenario(folder, "caller.xml", values)
    (folder / "callers.csv").write_text("SEQUENTIAL\n" + "".join(f"{each}\n" for each in numbers))
    write_pcap(caller(line.digits.presses), folder / "phone.pcap")


def _write_scenario(folder: Path, name: str, values: dict[str, object]) -> None:
    folder.mkdir(parents=True)
    text = (SCENARIOS / name).read_text()
    for key, value in values.items():
        text = text.replace(f"@{key}@", str(value))
    (folder / "scenario.xml").write_text(text)


def _common(port: int) -> tuple[str, ...]:
    return (
        *("-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp", str(media_port())),
        *("-nostdin", "-trace_err", "-trace_logs", "-log_file", "phones.log"),
    )
