"""The packages whose tests are measured, with their targets."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
SKIPPED = ("/generated/", "/migrations/")


class Package(Struct, frozen=True):
    """A package: its score to reach, its sample, and where its tests are, the nearest first."""

    folder: str
    target: float
    count: int
    mirrors: tuple[str, ...]
    last: tuple[str, ...] = ()  # tests that run when no others have noticed a mutant

    def modules(self) -> list[str]:
        """List the package's modules that are not generated."""
        paths = sorted((ROOT / self.folder).rglob("*.py"))
        names = (str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py")
        return [name for name in names if not any(part in name for part in SKIPPED)]


PACKAGES: Mapping[str, Package] = {
    "core": Package("engine/calls", 0.9, 120, ("tests/unit/calls",), ("tests/sim/test_sim.py",)),
    "runtime": Package(
        "engine/runtime", 0.8, 80, ("tests/unit/runtime",), ("tests/sim/test_sim.py",)
    ),
    "store": Package("engine/store", 0.8, 50, ("tests/unit/store", "tests/contract/store")),
    "callbacks": Package(
        "engine/callbacks", 0.8, 50, ("tests/unit/callbacks", "tests/contract/callbacks")
    ),
    "api": Package(
        "api",
        0.8,
        80,
        ("tests/unit/api", "tests/contract/api"),
        ("tests/contract/api/test_database.py::test_the_schema_matches_the_code[sqlite]",),
    ),
}
