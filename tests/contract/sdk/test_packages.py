"""The distributions: the SDK's wheel stands alone, and the engine's has the samples."""

import subprocess
import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[3]


def build(project: Path, folder: Path) -> zipfile.ZipFile:
    """Build the wheel of a project."""
    argv = (sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--offline")
    subprocess.run((*argv, "--out-dir", str(folder), str(project)), check=True, capture_output=True)
    return zipfile.ZipFile(next(folder.glob("*.whl")))


def test_the_sdk_depends_on_no_part_of_the_engine(tmp_path: Path) -> None:
    """Its wheel has types, and its modules import neither engine nor REST layer nor wire."""
    wheel = build(ROOT / "sdk/python", tmp_path)
    assert "switchroom_sdk/py.typed" in wheel.namelist()
    assert "switchroom_sdk/generated/resources.py" in wheel.namelist()
    wheel.extractall(tmp_path / "site")
    code = (
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n"
        "import switchroom_sdk, switchroom_sdk.fastapi, switchroom_sdk.flask\n"
        "ours = {name.partition('.')[0] for name in sys.modules}\n"
        "assert not ours & {'engine', 'api', 'wire', 'sandbox', 'switchroom'}, ours\n"
        "assert switchroom_sdk.__file__.startswith(sys.path[0])\n"
    )
    argv = (
        sys.executable,
        "-c",
        f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})\n{code}",
    )
    subprocess.run(argv, check=True, cwd=tmp_path)


def test_the_wheel_has_what_new_copies(tmp_path: Path) -> None:
    """The samples, both SDKs, and nothing that was installed or compiled beside them."""
    names = [
        each.partition("sdk/")[2] for each in build(ROOT, tmp_path).namelist() if "sdk/" in each
    ]
    for path in (
        "samples/ivr/README.md",
        "python/samples/ivr/fastapi_app.py",
        "python/samples/requirements-flask.txt",
        "python/switchroom_sdk/generated/verbs.py",
        "typescript/package.json",
        "typescript/tsconfig.json",
        "typescript/src/generated/verbs.ts",
        "typescript/samples/ivr/app.ts",
        "typescript/samples/shared/tsconfig.json",
    ):
        assert path in names, path
    assert not [each for each in names if "node_modules" in each or "__pycache__" in each]
