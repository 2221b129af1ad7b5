"""A seeded sample of mutants, in which every kind of change has its share."""

import random
from collections import defaultdict
from collections.abc import Mapping

from tools.mutants.mutations import Mutant, mutants_of
from tools.mutants.packages import ROOT, Package

# So weighted that changes which any test notices, as most deletions, do not flatter the score.
WEIGHTS: Mapping[str, float] = {
    "comparison": 0.15,
    "and/or": 0.05,
    "drop operand": 0.10,
    "constant": 0.13,
    "flip bool": 0.02,
    "negate condition": 0.08,
    "drop not": 0.03,
    "drop minus": 0.01,
    "delete statement": 0.12,
    "return None": 0.10,
    "arithmetic": 0.08,
    "drop keyword": 0.08,
    "swap arguments": 0.05,
}


def sample(package: Package, count: int, seed: int) -> list[Mutant]:
    """Choose mutants of a package, at most one for each place."""
    by_operator = defaultdict[str, list[Mutant]](list)
    for path in package.modules():
        for mutant in mutants_of(path, (ROOT / path).read_text()):
            by_operator[mutant.operator].append(mutant)
    dice = random.Random(f"{seed} {package.folders}")
    for mutants in by_operator.values():
        dice.shuffle(mutants)
    chosen = dict[tuple[str, int, int], Mutant]()
    while len(chosen) < count and by_operator:
        operators = sorted(by_operator)
        operator = dice.choices(operators, [WEIGHTS[each] for each in operators])[0]
        mutant = by_operator[operator].pop()
        if not by_operator[operator]:
            del by_operator[operator]
        chosen.setdefault((mutant.path, mutant.line, mutant.column), mutant)
    return list(chosen.values())
