"""Keeps files with secrets out of a developer's git repository."""

import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

_WITHIN_S = 10


def exclude_from_git(paths: Sequence[Path]) -> Iterator[str]:
    """Have git ignore files and folders; yields what to say of each that it did not ignore.

    They are named in `.git/info/exclude`, which belongs to this clone only: `.gitignore` is the
    project's.
    """
    for path in paths:
        if not _is_in_repository(path.parent):
            continue
        if _git(path, "ls-files", "--error-unmatch", str(path)) is not None:
            yield f"{path} has secrets, and git has a version of it: `git rm --cached`"
        elif _is_ignored(path) or _was_excluded(path):
            continue
        else:
            yield f"{path} has secrets: add it to .gitignore"


def _is_in_repository(folder: Path) -> bool:
    return any((each / ".git").exists() for each in (folder, *folder.parents))


def _is_ignored(path: Path) -> bool:
    return _git(path, "check-ignore", "--quiet", str(path)) is not None


def _was_excluded(path: Path) -> bool:
    """Add a path to the excludes of its clone, if git is here and trusts the clone."""
    top = _git(path, "rev-parse", "--show-toplevel")
    excludes = _git(path, "rev-parse", "--path-format=absolute", "--git-path", "info/exclude")
    if not top or not excludes:
        return False
    relative = path.resolve().relative_to(top).as_posix()
    file = Path(excludes)
    try:
        file.parent.mkdir(exist_ok=True)
        with file.open("a", encoding="utf-8") as out:
            out.write(f"# written by `switchroom dev`: it has secrets\n/{relative}\n")
    except OSError:
        return False
    return _is_ignored(path)


def _git(path: Path, *arguments: str) -> str | None:
    """Run git in the folder of a path; None if it fails or is not installed."""
    program = shutil.which("git")
    if program is None:
        return None
    command = (program, "-C", str(path.parent), *arguments)
    try:
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, timeout=_WITHIN_S
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
