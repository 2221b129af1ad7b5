"""Tests of the same servers run in one worker, and those of most tests begin."""

from pathlib import Path

from tests.contract.gate.project import SCHEDULED, Project


def functions(name: str, count: int) -> str:
    return "".join(f"def test_{name}{number}(): pass\n" for number in range(count))


def test_each_group_runs_in_one_worker(tmp_path: Path) -> None:
    """By the longest start of a test's id; tests without servers go to either worker."""
    project = Project(tmp_path)
    project.add("conftest.py", SCHEDULED)
    project.add("test_a.py", functions("a", 8))
    project.add("test_b.py", functions("b", 9) + functions("c", 3))
    project.add("test_d.py", functions("d", 6))
    ran = project.run("tests", "-n", "2")
    assert ran.returncode == 0, ran.stdout
    workers = [(tmp_path / "tests" / name).read_text().split() for name in ("gw0", "gw1")]
    for groups in ("ac", "b"):
        where = [any(name[len("test_")] in groups for name in worker) for worker in workers]
        assert where.count(True) == 1
    assert sum(map(len, workers)) == 26
    assert all(worker[0][len("test_")] != "d" for worker in workers)
