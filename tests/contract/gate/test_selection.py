"""Which tests of `tests/full.toml` a command runs."""

from pathlib import Path

import pytest

from tests.contract.gate.project import Project

TESTS = """
import pytest

def test_one(): pass

@pytest.mark.parametrize("number", [1, 2])
def test_two(number): pass
"""
LIST = """
[[group]]
reason = "variants"
proven = "the others"
tests = ["tests/test_a.py::test_two[2]", "tests/test_b.py", "tests/test_c.py::*[2]"]
"""
GATE_OF_A = ["test_a.py::test_one", "test_a.py::test_two[1]"]
IN_GATE = [*GATE_OF_A, "test_c.py::test_one", "test_c.py::test_two[1]"]
ALL_OF_A = [*GATE_OF_A, "test_a.py::test_two[2]"]
ALL_OF_B = ["test_b.py::test_one", "test_b.py::test_two[1]", "test_b.py::test_two[2]"]
ALL_OF_C = ["test_c.py::test_one", "test_c.py::test_two[1]", "test_c.py::test_two[2]"]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Make three files of tests, and a list with a variant, a file and a parameter."""
    made = Project(tmp_path, LIST)
    made.add("test_a.py", TESTS)
    made.add("test_b.py", TESTS)
    made.add("test_c.py", TESTS)
    return made


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (["tests"], IN_GATE),
        (["tests", "--full"], [*ALL_OF_A, *ALL_OF_B, *ALL_OF_C]),
        (["tests/test_b.py"], ALL_OF_B),
        (["tests/test_a.py::test_two[2]"], ["test_a.py::test_two[2]"]),
        (["tests", "-k", "two"], ["test_a.py::test_two[1]", "test_c.py::test_two[1]"]),
        (["tests", "-n", "1"], IN_GATE),
    ],
    ids=["folder", "full", "file", "variant", "expression", "worker"],
)
def test_a_command_runs(project: Project, arguments: list[str], expected: list[str]) -> None:
    """A folder has no listed tests; who names a file or a test, or says --full, gets them."""
    assert project.passed(*arguments) == expected


@pytest.mark.parametrize("options", [[], ["-n", "1"]], ids=["alone", "worker"])
def test_an_entry_without_a_test_is_an_error(tmp_path: Path, options: list[str]) -> None:
    """Its variant was renamed: the tests would be in `make test` again, unnoticed."""
    project = Project(tmp_path, LIST.replace("[2]", "[3]"))
    project.add("test_a.py", TESTS)
    project.add("test_c.py", TESTS)
    ran = project.run("tests", *options)
    assert ran.returncode != 0
    said = "tests/full.toml lists no test: tests/test_a.py::test_two[3], tests/test_c.py::*[3]"
    assert said in ran.stdout + ran.stderr
