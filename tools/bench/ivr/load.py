"""SIPp load: standard IVR calls to a number at a rate."""

import asyncio
import csv
import tempfile
from pathlib import Path

from msgspec import Struct

from dev.servers.process import Process
from tests.harness.ports import free_port, media_port
from tests.harness.until import until
from tools.bench.ivr.rtp import standard_caller, write_pcap

SCENARIO = Path(__file__).with_name("ivr.xml")
DIGITS = "1234"
MAX_CALL_MS = 3_500  # 2.4 s after the answer; two more when a digit was lost
DIGITS_AT_MS = 1_250  # the first prompt lasts a second
DRAIN_S = 30  # for the last calls


class Outcome(Struct, frozen=True):
    """Numbers of calls: all, failed, and refused with 503."""

    calls: int
    failed: int
    refused: int


async def load(  # noqa: PLR0913, PLR0917 - the parameters of a load
    sip_port: int,
    number: str,
    rate: int,
    seconds: float,
    folder: Path,
    ends_within_ms: int = MAX_CALL_MS,
) -> Outcome:
    """Call a number on 127.0.0.1 at an even rate and wait until all calls have ended."""
    scratch = Path(tempfile.mkdtemp(prefix="load-", dir=folder))
    scenario = SCENARIO.read_text().replace("@ENDS_WITHIN_MS@", str(ends_within_ms))
    (scratch / SCENARIO.name).write_text(scenario)
    write_pcap(standard_caller(DIGITS, DIGITS_AT_MS), scratch / "phone.pcap")
    calls = int(rate * seconds)
    argv = (
        *("sipp", f"127.0.0.1:{sip_port}", "-sf", SCENARIO.name, "-s", number),
        *("-i", "127.0.0.1", "-p", str(free_port()), "-mi", "127.0.0.1", "-mp", str(media_port())),
        *("-r", str(rate), "-m", str(calls), "-l", str(calls), "-nostdin"),
        *("-recv_timeout", "10000", "-trace_stat", "-stf", "stat.csv", "-fd", "1"),
    )
    sipp = Process.start(argv, log=scratch / "sipp.log", cwd=scratch)
    try:
        await until(lambda: not sipp.alive(), timeout_s=seconds + DRAIN_S, what="SIPp to end")
    except TimeoutError:
        await sipp.kill()
    return await asyncio.to_thread(_outcome, scratch / "stat.csv", calls)


def _outcome(path: Path, calls: int) -> Outcome:
    with path.open(newline="") as lines:
        last = list(csv.DictReader(lines, delimiter=";"))[-1]
    refused = int(last["GenericCounter1(C)"])
    went_well = int(last["SuccessfulCall(C)"]) - refused
    return Outcome(calls, calls - went_well - refused, refused)
