"""A measured figure with its baseline; stores and prints figures."""

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from statistics import quantiles

import msgspec
from msgspec import Struct
from rich.console import Console
from rich.table import Table


class Figure(Struct, frozen=True):
    """One measured value; baseline and ratio if something comparable ran in the same run.

    The anchor of calls on a real Asterisk (`ivr50`, `ivr50_engine`, `capacity`) is the bare
    application: it is the baseline of the engine and of the dialplan.
    """

    name: str
    value: float
    unit: str
    baseline: float | None
    ratio: float | None
    command: str


def figure(  # noqa: PLR0913 - the fields of a figure
    bench: str,
    name: str,
    value: float,
    unit: str,
    baseline: float | None = None,
    *,
    suite: str = "bench",
) -> Figure:
    """Return a figure of a bench; the ratio is value to baseline. A baseline of NaN is none."""
    known = None if baseline is None or math.isnan(baseline) else baseline
    ratio = round(value / known, 2) if known else None
    rounded = None if known is None else round(known, 3)
    command = f"python -m tools.{suite} --only {bench}"
    return Figure(f"{bench}.{name}", round(value, 3), unit, rounded, ratio, command)


def percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile, interpolated; NaN for fewer than two values."""
    if len(values) < 2:  # quantiles needs two
        return float("nan")
    return quantiles(values, n=100, method="inclusive")[percent - 1]


def read_figures(path: Path) -> list[Figure]:
    """Return the figures of a file; none if it is missing or another one."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=list[Figure])
    except (FileNotFoundError, msgspec.DecodeError):
        return []


def keep(figures: Iterable[Figure], path: Path) -> None:
    """Update a JSON file: replace figures of the same name, keep the others.

    A figure that could not be measured (NaN) is left out: JSON has no NaN.
    """
    measured = {each.name: each for each in figures if not math.isnan(each.value)}
    figures_by_name = {each.name: each for each in read_figures(path)} | measured
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(
        msgspec.json.format(msgspec.json.encode(list(figures_by_name.values()))) + b"\n"
    )


def show(figures: Iterable[Figure], console: Console) -> None:
    """Print figures as a table."""
    table = Table("figure", "value", "unit", "baseline", "ratio")
    for column in table.columns[1:]:
        column.justify = "right"
    for each in figures:
        baseline, ratio = _text(each.baseline), _text(each.ratio)
        table.add_row(each.name, _text(each.value), each.unit, baseline, ratio)
    console.print(table)


def _text(value: float | None) -> str:
    return "" if value is None else f"{value:,.2f}".removesuffix(".00")
