"""The packages whose tests are measured, with their targets."""

from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct

ROOT = Path(__file__).parents[2]
OUT = ROOT / "bench-out" / "mutants"
UNIT_TESTS = "tests/unit/"
PRODUCT = ("api", "base", "cli", "dev", "engine", "speech", "streams", "switchroom", "wire")
SKIPPED = ("/generated/", "/migrations/")


class Package(Struct, frozen=True):
    """A package: its score to reach, its sample, and where its tests are, the nearest first."""

    folders: tuple[str, ...]
    target: float
    count: int
    mirrors: tuple[str, ...]
    last: tuple[str, ...] = ()  # tests that run when no others have noticed a mutant
    processes: Mapping[str, tuple[str, ...]] = {}  # more of them, for the modules below a path

    def last_of(self, path: str) -> tuple[str, ...]:
        """List the last tests of a module; those whose programs are processes run no line here."""
        more = (tests for below, tests in self.processes.items() if path.startswith(below))
        return self.last + tuple(test for tests in more for test in tests)

    def modules(self) -> list[str]:
        """List the package's modules that are not generated."""
        paths = [path for each in self.folders for path in sorted((ROOT / each).rglob("*.py"))]
        names = (str(path.relative_to(ROOT)) for path in paths if path.name != "__init__.py")
        return [name for name in names if not any(part in name for part in SKIPPED)]


SIMULATORS = (  # without the planted faults, which are about their checks
    "tests/sim/test_sim.py::test_random_calls_satisfy_all_checks",
    "tests/sim/cluster/test_cluster.py::test_random_calls_of_several_engines_satisfy_all_checks",
)

PACKAGES: Mapping[str, Package] = {
    "core": Package(("engine/calls",), 0.92, 240, ("tests/unit/calls",), SIMULATORS),
    "runtime": Package(("engine/runtime",), 0.85, 160, ("tests/unit/runtime",), SIMULATORS),
    "store": Package(("engine/store",), 0.85, 100, ("tests/unit/store", "tests/contract/store")),
    "callbacks": Package(
        ("engine/callbacks",), 0.85, 100, ("tests/unit/callbacks", "tests/contract/callbacks")
    ),
    "streams": Package(
        ("streams",),
        0.85,
        100,
        ("tests/unit/streams", "tests/contract/streams"),
        (
            "tests/unit/docs/reference/test_pages.py::test_a_page_is_current",  # of settings
            "tests/contract/streams",  # they start gateways, whose lines no coverage has
        ),
    ),
    "api": Package(
        ("api",),
        0.85,
        160,
        ("tests/unit/api", "tests/contract/api", "tests/security"),
        (
            "tests/contract/api/test_database.py::test_the_schema_matches_the_code[sqlite]",
            # A limit or a default of a request is compared with the published documents only.
            "tests/unit/docs/reference/test_pages.py::test_a_page_is_current",
            "tests/unit/api/http/test_query_models.py",
        ),
        {
            "cli/database/": (
                "tests/contract/api/accounts/test_account_cli.py",
                "tests/contract/api/backup/test_backup_cli.py",
                "tests/contract/api/retention/test_erasure.py::test_the_command",
                "tests/contract/api/test_dnc_cli.py",
                "tests/security/test_audited_commands.py",
                "tests/security/test_stopped_account.py",
            ),
            "api/backup/": ("tests/contract/api/backup/test_backup_cli.py",),
            "api/serve.py": (
                "tests/contract/api/transcripts/test_killed.py",
                "tests/security/test_public_port.py",
            ),
        },
    ),
}
