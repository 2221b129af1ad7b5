"""Scores of packages, and the mutants that no test has noticed."""

from collections import Counter
from collections.abc import Mapping, Sequence

from rich.console import Console
from rich.table import Table

from tools.mutants.equivalents import reason_for
from tools.mutants.packages import PACKAGES
from tools.mutants.trial import Trial

COLUMNS = ("package", "mutants", "killed", "timeout", "survived", "not covered", "equivalent",
           "score", "target")  # fmt: skip


def report(trials: Mapping[str, Sequence[Trial]], console: Console) -> bool:
    """Print survivors and scores; returns whether every package reaches its target."""
    is_reached = True
    table = Table(*COLUMNS)
    for column in table.columns[1:]:
        column.justify = "right"
    for name, tried in trials.items():
        _print_survivors(name, tried, console)
        score, target = score_of(tried), PACKAGES[name].target
        verdicts = Counter(each.verdict for each in tried)
        is_reached = is_reached and score >= target
        color = "green" if score >= target else "red"
        table.add_row(
            name,
            str(len(tried)),
            *(str(verdicts[each]) for each in ("killed", "timeout", "survived", "not covered")),
            str(sum(_is_equivalent(each) for each in tried)),
            f"[{color}]{score:.0%}[/{color}]",
            f"{target:.0%}",
        )
    console.print(table)
    return is_reached


def score_of(tried: Sequence[Trial]) -> float:
    """Return the share of mutants that tests have noticed, of those that they could."""
    noticed = sum(each.verdict in {"killed", "timeout"} for each in tried)
    possible = len(tried) - sum(map(_is_equivalent, tried))
    return noticed / possible if possible else 1.0


def _is_equivalent(trial: Trial) -> bool:
    return trial.verdict in {"survived", "not covered"} and reason_for(trial.mutant) is not None


def _print_survivors(name: str, tried: Sequence[Trial], console: Console) -> None:
    for each in sorted(tried, key=lambda one: (one.mutant.path, one.mutant.line)):
        if each.verdict in {"survived", "not covered"}:
            one = each.mutant
            why = reason_for(one)
            state = f"equivalent: {why}" if why else each.verdict
            text = f"{one.path}:{one.line} {one.operator}: {one.before}  ->  {one.after}  ({state})"
            console.print(f"{name}: {text}", markup=False, highlight=False, soft_wrap=True)
