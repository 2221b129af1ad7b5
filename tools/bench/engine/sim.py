"""Speed of the simulator: calls per second of `python -m tests.sim`, with faults and checks."""

import asyncio
import re
import sys

from tools.bench.figure import Figure, figure
from tools.bench.setting import Setting

CALLS = 10_000
TIMEOUT_S = 120


async def sim(setting: Setting) -> list[Figure]:
    """Run the same calls each time, on one core; raises RuntimeError if it prints no rate."""
    calls = CALLS // 5 if setting.quick else CALLS
    options = ("--calls", str(calls), "--first", "0", "--workers", "1")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.sim", *options), stdout=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(TIMEOUT_S):
            printed, _ = await process.communicate()
    except TimeoutError:
        process.kill()
        raise RuntimeError(f"{calls} simulated calls took over {TIMEOUT_S} s") from None
    found = re.search(r"(\d+) calls/s", printed.decode())
    if found is None:
        raise RuntimeError(f"the simulator printed no rate: {printed.decode()[-500:]}")
    return [figure("sim", "calls_per_s", int(found[1]), "calls/s")]
