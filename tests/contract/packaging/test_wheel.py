"""The wheel: what an installation adds to Python, and that its commands run outside a clone."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
FOLDERS = {"asterisk-config": "asterisk-config"}
FILES = {"alerts": "docs/operations/alerts.yaml", "dashboard": "docs/operations/dashboard.json"}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory"]
    subprocess.run([*command, folder], cwd=ROOT, check=True, capture_output=True)
    (found,) = folder.glob("*.whl")
    return found


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel, which is what an installer does with its packages."""
    folder = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(folder)
    return folder


def run(installed: Path, *arguments: str) -> str:
    """Run Python where only the unpacked wheel and the dependencies are found, not this clone."""
    clone = f"import sys; sys.path[:] = [p for p in sys.path if p != {str(ROOT)!r}]; "
    program = clone + "import runpy; " + arguments[0]
    result = subprocess.run(
        [sys.executable, "-P", "-c", program, *arguments[1:]],
        env={"PYTHONPATH": str(installed), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=installed,
        check=False,
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stderr
    return result.stdout


def test_it_adds_one_name_to_python(installed: Path) -> None:
    """Another project's `api` or `engine` is neither hidden nor overwritten."""
    names = {each.name for each in installed.iterdir() if not each.name.endswith(".dist-info")}
    assert names == {"switchroom"}


def test_other_programs_do_not_find_its_packages(installed: Path) -> None:
    """A program that imports its own `api` never gets this one."""
    program = "from importlib.util import find_spec as find; print(find('api'), find('wire'))"
    assert run(installed, program) == "None None\n"


def test_its_files_are_those_of_the_clone(installed: Path) -> None:
    """Scripts, migrations and generated code are part of it; tests are not."""
    packages = installed / "switchroom/packages"
    folders = {
        "api",
        "asterisk-config",
        "dev",
        "docs",
        "engine",
        "base",
        "cli",
        "sdk",
        "speech",
        "streams",
        "wire",
    }
    assert {each.name for each in packages.iterdir()} == folders
    for name in folders - {"docs", "sdk"}:  # of these, parts
        each = packages / name
        ours = {path.relative_to(ROOT) for path in (ROOT / each.name).rglob("*") if path.is_file()}
        built = {path.relative_to(packages) for path in each.rglob("*") if path.is_file()}
        assert built == {path for path in ours if "__pycache__" not in path.parts}


def test_it_has_the_files_that_operators_copy(installed: Path, tmp_path: Path) -> None:
    """`switchroom asset save` writes those of the clone, without a clone."""
    program = (
        "import switchroom; sys.argv[0] = 'switchroom'; "
        "runpy.run_module('switchroom', run_name='__main__')"
    )
    for name, path in {**FOLDERS, **FILES}.items():
        run(installed, program, "asset", "save", name, str(tmp_path / name))
        source, saved = ROOT / path, tmp_path / name
        ours = {source} if source.is_file() else set(source.rglob("*"))
        expected = {each.name: each.read_bytes() for each in ours if each.is_file()
                    and each.suffix != ".pyc"}  # fmt: skip
        found = [each for each in saved.rglob("*") if each.is_file()]
        assert {each.name: each.read_bytes() for each in found} == expected


def test_it_describes_itself(installed: Path) -> None:
    """Index pages show who wrote it, its licence and its topics; no address is invented."""
    (metadata,) = installed.glob("*.dist-info/METADATA")
    text = metadata.read_text()
    assert "Author: Switchroom developers" in text
    assert "License-Expression: Apache-2.0" in text
    assert "Classifier: Topic :: Communications :: Internet Phone" in text
    assert "Project-URL" not in text
    assert list(installed.glob("*.dist-info/licenses/LICENSE"))


def test_commands_run_from_it(installed: Path) -> None:
    """Also those of the REST layer, which are found by their entry points."""
    program = (
        "import switchroom, engine, api; print(engine.__file__, api.__file__); "
        "sys.argv[0] = 'switchroom'; runpy.run_module('switchroom', run_name='__main__')"
    )
    out = run(installed, program, "account", "--help")
    assert out.startswith(f"{installed}/switchroom/packages/engine/__init__.py {installed}/")
    assert "switchroom account" in out


def test_its_worker_processes_find_their_modules(installed: Path) -> None:
    """Programs that read files of customers start with an environment of their own."""
    program = "import switchroom; from base.sandbox import ENVIRONMENT; print(ENVIRONMENT)"
    assert f"{installed}/switchroom/packages" in run(installed, program)
