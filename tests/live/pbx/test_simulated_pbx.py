"""The simulated PBX of the scenes behaves like a real one for standard calls."""

from pathlib import Path

from tools.bench.engine.simulated import simulated
from tools.bench.engine.simulated_call import Script
from tools.bench.engine.simulated_calls import Load


async def test_standard_calls_complete(tmp_path: Path) -> None:
    """The real engine with a real Valkey completes them, from answer to hangup."""
    async with simulated(tmp_path) as running:
        result = await running.pbx.run(Load((Script(),), seconds=1, rate=20))
    assert result.calls == result.whole > 0
