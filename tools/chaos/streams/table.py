"""The outcomes of streams as a table and as figures."""

from collections.abc import Sequence

from msgspec.structs import replace

from tools.bench.figure import Figure, figure
from tools.chaos.streams.outcome import StreamOutcome

COLUMNS = ("fault", "live", "dropped", "echoes missing", "unheard", "silence p99", "delay after",
           "broken prompts", "not understood", "left", "errors", "")  # fmt: skip
UNITS = {
    "live": "calls",
    "dropped": "calls",
    "missing": "echoes",
    "unheard_ms": "ms",
    "silence_ms": "ms",
    "delay_ms": "ms",
    "broken_prompts": "calls",
    "not_understood": "calls",
    "left": "calls, channels, bridges, streams",
    "errors": "lines",
}


def cells(each: StreamOutcome) -> Sequence[str]:
    """Return the cells of a row."""
    return (
        each.fault,
        *map(str, (each.live, each.dropped, each.missing)),
        f"{each.unheard_ms:,.0f} ms",
        f"{each.silence_ms:,.0f} ms",
        f"{each.delay_ms:,.0f} ms",
        *map(str, (each.broken_prompts, each.not_understood, each.left, each.errors)),
    )


def figures(each: StreamOutcome) -> list[Figure]:
    """Return the figures of a fault."""
    command = f"python -m tools.chaos.streams --only {each.fault}"
    return [
        replace(
            figure(f"streams_{each.fault}", name.removesuffix("_ms"), getattr(each, name), unit),
            command=command,
        )
        for name, unit in UNITS.items()
    ]
