"""Many silent phones in few processes: SIPp calls numbers in turn, or answers calls."""

import itertools
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path

from dev.servers.ports import is_udp_bound
from dev.servers.process import Process
from tests.harness.ports import free_port, media_port
from tests.harness.until import until

SCENARIOS = Path(__file__).with_name("sipp")
MAX_ATTEMPTS = 3
PER_S = 20  # calls started per second


def callers(
    folder: Path, sip_port: int, numbers: Sequence[str], count: int
) -> AbstractAsyncContextManager[Process]:
    """Start `count` callers of the numbers in turn; each stays until it is hung up."""
    folder.mkdir(parents=True)
    lines = itertools.islice(itertools.cycle(numbers), count)
    (folder / "numbers.csv").write_text("SEQUENTIAL\n" + "".join(f"{each}\n" for each in lines))
    calling = ("-inf", "numbers.csv", "-m", str(count), "-l", str(count), "-r", str(PER_S))
    return _sipp(folder, "caller", None, f"127.0.0.1:{sip_port}", *calling)


def callees(folder: Path, port: int) -> AbstractAsyncContextManager[Process]:
    """Answer any number of calls on a port."""
    folder.mkdir(parents=True)
    return _sipp(folder, "callee", port)


@asynccontextmanager
async def _sipp(
    folder: Path, scenario: str, port: int | None, *more: str
) -> AsyncIterator[Process]:
    for _ in range(MAX_ATTEMPTS):
        sipp, bound = _start(folder, scenario, port or free_port(), more)
        await until(lambda: bound() or not sipp.alive(), what="SIPp to listen")  # noqa: B023 - awaited within the iteration
        if sipp.alive():
            break  # otherwise another program took its port
    try:
        yield sipp
    finally:
        await sipp.kill()


def _start(
    folder: Path, scenario: str, port: int, more: Sequence[str]
) -> tuple[Process, Callable[[], bool]]:
    argv = (
        *("sipp", *more, "-sf", str(SCENARIOS / f"{scenario}.xml"), "-nostdin"),
        *("-i", "127.0.0.1", "-p", str(port), "-mi", "127.0.0.1", "-mp", str(media_port())),
        "-trace_err",
    )
    sipp = Process.start(argv, log=folder / "sipp.log", cwd=folder)
    return sipp, lambda: is_udp_bound(port)
