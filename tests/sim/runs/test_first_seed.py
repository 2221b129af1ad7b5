"""The first seed of a run: another for each commit, and the same for each run of one."""

import subprocess
from pathlib import Path

from tests.sim.runs.first_seed import first_seed

AUTHOR = ("-c", "user.name=a", "-c", "user.email=a@example.org")


def _git(tree: Path, *arguments: str) -> None:
    subprocess.run(("git", *AUTHOR, *arguments), check=True, cwd=tree, capture_output=True)


def _commit(tree: Path, message: str) -> None:
    _git(tree, "commit", "--quiet", "--allow-empty", "--message", message)


def _module(tree: Path, text: str) -> None:
    module = tree / "engine" / "call.py"
    module.parent.mkdir(exist_ok=True)
    module.write_text(text)


def test_each_commit_has_seeds_of_its_own(tmp_path: Path) -> None:
    """Changes that are not committed do not change them."""
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path, "one")
    first = first_seed(tmp_path)
    _module(tmp_path, "x = 1")
    assert first_seed(tmp_path) == first

    _commit(tmp_path, "two")

    assert first_seed(tmp_path) not in range(first - 9_999, first + 10_000)


def test_seeds_of_a_tree_without_a_commit_derive_from_its_sources(tmp_path: Path) -> None:
    """Tests, documents and caches do not count."""
    _module(tmp_path, "x = 1")
    first = first_seed(tmp_path)
    (tmp_path / "README.md").write_text("A text")
    assert first_seed(tmp_path) == first

    _module(tmp_path, "x = 2")

    assert first_seed(tmp_path) != first


def test_commit_of_another_repository_around_a_tree_does_not_count(tmp_path: Path) -> None:
    """An archive that is unpacked in a repository has the seeds that it has elsewhere."""
    _git(tmp_path, "init", "--quiet")
    _commit(tmp_path, "one")
    tree = tmp_path / "unpacked"
    tree.mkdir()
    _module(tree, "x = 1")
    first = first_seed(tree)

    _commit(tmp_path, "two")

    assert first_seed(tree) == first
