"""Files with secrets in a developer's git repository: git ignores them, or it is said."""

import subprocess
from pathlib import Path

import pytest

from dev.lab.git_exclude import exclude_from_git


def git(folder: Path, *arguments: str) -> str:
    command = ("git", "-c", "user.name=t", "-c", "user.email=t@example.com", *arguments)
    done = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """Make a repository with secrets in a folder of it."""
    git(tmp_path, "init", "--quiet")
    (tmp_path / "app/.lab").mkdir(parents=True)
    (tmp_path / "app/.lab/settings.env").write_text("SECRET=1")
    (tmp_path / "app/.env").write_text("SECRET=1")
    return tmp_path


def test_they_are_excluded(clone: Path) -> None:
    """A file and a folder, once, in this clone only: no file of the project changes."""
    paths = (clone / "app/.env", clone / "app/.lab")
    assert list(exclude_from_git(paths)) == []
    git(clone, "add", "--all")
    assert git(clone, "ls-files") == ""
    before = (clone / ".git/info/exclude").read_text()
    assert list(exclude_from_git(paths)) == []
    assert (clone / ".git/info/exclude").read_text() == before


def test_one_that_git_has_is_named(clone: Path) -> None:
    """An exclude no longer helps."""
    git(clone, "add", "app/.env")
    (text,) = exclude_from_git((clone / "app/.env",))
    assert text == f"{clone}/app/.env has secrets, and git has a version of it: `git rm --cached`"


def test_a_repository_that_git_does_not_open(tmp_path: Path) -> None:
    """Such as one of another user: the developer has to do it."""
    (tmp_path / ".git").write_text("gitdir: /nowhere")
    (text,) = exclude_from_git((tmp_path / ".env",))
    assert text == f"{tmp_path}/.env has secrets: add it to .gitignore"


def test_no_repository(tmp_path: Path) -> None:
    """Nothing is said of other folders."""
    assert list(exclude_from_git((tmp_path / ".env",))) == []
