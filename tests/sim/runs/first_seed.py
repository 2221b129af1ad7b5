"""The first seed of a run: each commit plays calls that no other has played, and always the same.

Changes that are not committed play those of their commit. Without a repository, as in a released
archive, the sources of the product stand for the commit.
"""

import subprocess
from hashlib import sha256
from pathlib import Path

TREE = Path(__file__).parents[3]
PRODUCT = ("engine", "streams", "wire")  # what the simulators run
SEEDS = 10_000  # of a commit
COMMITS = 1_000_000  # so many do not share seeds


def first_seed(tree: Path = TREE) -> int:
    """Return the first of the seeds of a tree's commit."""
    digest = sha256(_commit(tree) or _sources(tree)).digest()
    return SEEDS * (1 + int.from_bytes(digest[:8]) % COMMITS)


def _commit(tree: Path) -> bytes:
    """Return the commit of a tree; empty if it is no repository, or within another one."""
    try:
        found = subprocess.run(
            ("git", "rev-parse", "--show-toplevel", "HEAD"),
            check=False,
            cwd=tree,
            capture_output=True,
        )
    except FileNotFoundError:  # git is not installed
        return b""
    top, _, commit = found.stdout.strip().partition(b"\n")
    is_own = found.returncode == 0 and Path(top.decode()).samefile(tree)
    return commit if is_own else b""


def _sources(tree: Path) -> bytes:
    """Return a digest of the names and contents of the product's modules."""
    digest = sha256()
    for package in PRODUCT:
        for module in sorted((tree / package).rglob("*.py")):
            digest.update(sha256(module.relative_to(tree).as_posix().encode()).digest())
            digest.update(sha256(module.read_bytes()).digest())
    return digest.digest()
