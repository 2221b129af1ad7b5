"""`make version` and `make release`, in a repository that the test makes."""

import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from tests.harness.npm import install_sdk
from tools.release.build import IMAGES, image_commands, pack_typescript
from tools.release.packages import check_packages
from tools.release.version import PLACES, ReleaseError, check_number, other_versions, section

ROOT = Path(__file__).parents[3]
FOLDERS = (
    "api", "asterisk-config", "base", "cli", "docs/operations", "engine", "lock", "sdk",
    "speech", "streams", "switchroom", "tests/harness", "tools", "wire",
)  # fmt: skip
FILES = (
    "CHANGELOG.md",
    "LICENSE",
    "README.md",
    "pyproject.toml",
    ".gitignore",
)
GOOD = """\
Metadata-Version: 2.4
Name: good
Version: 1.0
Summary: Good
License-Expression: Apache-2.0
Requires-Python: >=3.11
Description-Content-Type: text/markdown

Text.
"""
WHO = {
    f"GIT_{role}_{field}": "t@example.com"
    for role in ("AUTHOR", "COMMITTER")
    for field in ("NAME", "EMAIL")
}
QUICK = ("--no-images", "--no-typescript")
ALONE = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null"}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, **WHO, **ALONE}
    return subprocess.run(
        words, cwd=folder, env=environment, check=False, capture_output=True, text=True
    )


def make(folder: Path, module: str, *words: str) -> subprocess.CompletedProcess[str]:
    return run(folder, sys.executable, "-m", f"tools.release.{module}", *words)


def commit(folder: Path) -> None:
    assert run(folder, "git", "add", "--all").returncode == 0
    assert run(folder, "git", "commit", "--quiet", "--message", "Change").returncode == 0


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Provide a repository with what a release is built from, in one commit."""
    for name in FOLDERS:
        ignored = shutil.ignore_patterns("__pycache__", "*.env", "node_modules", "dist")
        shutil.copytree(ROOT / name, tmp_path / name, ignore=ignored)
    for name in FILES:
        shutil.copy(ROOT / name, tmp_path / name)
    assert run(tmp_path, "git", "init", "--quiet").returncode == 0
    commit(tmp_path)
    return tmp_path


def test_a_release_is_built_and_tagged(repository: Path) -> None:
    """Twice the same bytes from the same commit; nothing is left to commit."""
    assert make(repository, "version", "7.8.9").returncode == 0
    commit(repository)
    released = make(repository, "build", "7.8.9", *QUICK)
    assert released.returncode == 0, released.stderr
    assert "nothing was pushed" in released.stdout
    folder = repository / "dist/7.8.9"
    names = {each.name for each in folder.iterdir()}
    assert {
        "switchroom-7.8.9-py3-none-any.whl", "switchroom-7.8.9.tar.gz", "sbom-engine.json",
        "switchroom_sdk-7.8.9-py3-none-any.whl", "switchroom_sdk-7.8.9.tar.gz",
        "sbom-api.json", "CHANGES.md", "SHA256SUMS",
    } <= names  # fmt: skip
    sums = (folder / "SHA256SUMS").read_text()
    for line in sums.splitlines():
        digest, name = line.split()
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
    tag = run(repository, "git", "cat-file", "-p", "v7.8.9").stdout
    assert "Switchroom 7.8.9" in tag
    assert (folder / "CHANGES.md").read_text().strip() in tag
    assert run(repository, "git", "status", "--porcelain").stdout == ""
    again = make(repository, "build", "7.8.9", *QUICK)
    assert (again.returncode, "the tag v7.8.9 exists" in again.stderr) == (1, True)
    run(repository, "git", "tag", "--delete", "v7.8.9")
    assert make(repository, "build", "7.8.9", *QUICK).returncode == 0
    assert (folder / "SHA256SUMS").read_text() == sums


def test_a_package_with_faults_is_no_release(tmp_path: Path) -> None:
    """The metadata is checked as an index checks it: all faults of all packages at once."""
    for name, text in {
        "good-1.0": GOOD,
        "other-1.0": GOOD,
        "bad-1.0": "Metadata-Version: 2.4\nName: bad\nVersion: 1.0\nRequires-Dist: a ??\n",
    }.items():
        with tarfile.open(tmp_path / f"{name}.tar.gz", "w:gz") as archive:
            info = tarfile.TarInfo(f"{name}/PKG-INFO")
            info.size = len(text)
            archive.addfile(info, io.BytesIO(text.encode()))
    with pytest.raises(ReleaseError) as refused:
        check_packages(tmp_path)
    assert "other-1.0.tar.gz: its metadata is that of good 1.0" in str(refused.value)
    assert "bad-1.0.tar.gz: 'a ??' is invalid" in str(refused.value)
    assert "good-1.0.tar.gz" not in str(refused.value)


def test_the_typescript_package_runs(repository: Path) -> None:
    """What `npm pack` contains is all that a program needs."""
    if reason := install_sdk():
        pytest.skip(reason)
    folder = repository / "dist"
    folder.mkdir()
    pack_typescript(repository, folder)
    (packed,) = folder.glob("switchroom-sdk-*.tgz")
    installed = repository / "user/node_modules/switchroom-sdk"
    installed.mkdir(parents=True)
    with tarfile.open(packed) as archive:
        archive.extractall(installed, filter="data")
    names = {each.name for each in (installed / "package").iterdir()}
    assert names == {"LICENSE", "README.md", "dist", "package.json"}
    for each in (installed / "package").iterdir():
        each.rename(installed / each.name)
    program = repository / "user/program.mjs"
    code = 'import { say } from "switchroom-sdk"; console.log(JSON.stringify(say("hello")));\n'
    program.write_text(code)
    ran = run(repository / "user", "node", "program.mjs")
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["type"] == "say"


@pytest.mark.parametrize("sdk", ["python", "typescript"])
def test_each_package_has_the_license(sdk: str) -> None:
    """A package cannot contain a file from above its folder, so each has a copy."""
    assert (ROOT / "sdk" / sdk / "LICENSE").read_text() == (ROOT / "LICENSE").read_text()


def test_a_tree_that_is_not_ready_is_refused(repository: Path) -> None:
    """All reasons at once: places, changelog and changes; there is no tag and no file."""
    (repository / "wire/new.py").write_text("")
    (repository / "LICENSE").write_text("")
    refused = make(repository, "build", "7.8.9", *QUICK)
    assert refused.returncode == 1
    for text in (*PLACES, "CHANGELOG.md has no section", "not committed: LICENSE, wire/new.py"):
        assert text in refused.stderr
    assert "Traceback" not in refused.stderr
    assert not (repository / "dist").exists()
    assert run(repository, "git", "tag").stdout == ""


def test_a_version_has_three_numbers(repository: Path) -> None:
    """Others are refused before anything is written."""
    for version in ("", "1.2", "v1.2.3", "1.2.3-rc1"):
        with pytest.raises(ReleaseError, match="expected three numbers"):
            check_number(version)
    for module in ("version", "build"):
        refused = make(repository, module, "1.2")
        assert (refused.returncode, "expected three numbers" in refused.stderr) == (1, True)
    assert run(repository, "git", "status", "--porcelain").stdout == ""


def test_the_unreleased_changes_become_the_section(repository: Path) -> None:
    """The heading of the next ones stays; the version is in every place."""
    assert make(repository, "version", "7.8.9").returncode == 0
    text = (repository / "CHANGELOG.md").read_text()
    assert text.index("## [Unreleased]") < text.index("## [7.8.9] - ")
    assert section(repository, "7.8.9").startswith("The first release")
    assert list(other_versions(repository, "7.8.9")) == []
    assert make(repository, "version", "7.8.9").returncode == 1


def test_every_role_has_an_image() -> None:
    """Tagged with the version, labelled with it and the commit, from targets of the Dockerfile."""
    dockerfile = (ROOT / "Dockerfile").read_text()
    commands = image_commands("7.8.9", "0657e73")
    assert [each[3] for each in commands] == [f"switchroom-{role}:7.8.9" for role in IMAGES]
    for each in commands:
        if "--target" in each:
            assert f" AS {each[each.index('--target') + 1]}\n" in dockerfile
        assert {"--build-arg=VERSION=7.8.9", "--build-arg=REVISION=0657e73"} <= {*each}
        assert "image.version=" in (ROOT / each[-1] / "Dockerfile").read_text()
