"""Which prompts the media sweeper of a PBX node deletes."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from tests.harness.operations.pbx_script import FOLDER, load_prepare

NOW_S = 1_000_000.0
OUTPUT = """vm/8398/22.10.1
URI
\tLocal File
---------------
http://audio.example:8070/media/aa.wav
\t/run/bucket-DwXJJi.wav
http://audio.example:8070/media/bb.wav
\t/run/bucket-92eJp1.wav

"""


@pytest.fixture(scope="module")
def sweeper() -> ModuleType:
    """Load the script: its folder is no package."""
    spec = spec_from_file_location("sweep_media", FOLDER / "sweep_media.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_list_of_asterisk(sweeper: ModuleType) -> None:
    """Each URI has its file in the next line; other lines are ignored."""
    assert list(sweeper.listed(OUTPUT)) == [
        ("http://audio.example:8070/media/aa.wav", Path("/run/bucket-DwXJJi.wav")),
        ("http://audio.example:8070/media/bb.wav", Path("/run/bucket-92eJp1.wav")),
    ]


@pytest.mark.parametrize(
    ("ages", "max_bytes", "expected"),
    [
        ((90, 110, 120), 1_000, ["2", "1"]),  # older than the maximum of 100 s
        ((70, 80, 90), 1_000, []),
        ((70, 80, 90), 25, ["2"]),  # 10 bytes each
        ((70, 80, 90), 10, ["2", "1"]),
        ((59, 80, 90), 0, ["2", "1"]),  # the first is in use
    ],
)
def test_what_is_deleted(
    sweeper: ModuleType, ages: tuple[float, ...], max_bytes: float, expected: list[str]
) -> None:
    """Prompts that are too old, then the least recently used; none that was just used."""
    prompts = [sweeper.Prompt(str(n), NOW_S - age_s, 10) for n, age_s in enumerate(ages)]
    assert sweeper.surplus(prompts, NOW_S, 100.0, max_bytes) == expected


def test_an_entry_without_a_file(sweeper: ModuleType, tmp_path: Path) -> None:
    """It is deleted: a playback of it would fail."""
    (found,) = sweeper.prompts_of([("uri", tmp_path / "gone.wav")])
    assert sweeper.surplus([found], NOW_S, 100.0, 1_000) == ["uri"]


def test_the_default_limits(sweeper: ModuleType) -> None:
    """They are the same where the settings are listed."""
    defaults = load_prepare().DEFAULTS
    assert float(defaults["MEDIA_CACHE_S"]) == sweeper.MAX_AGE_S
    assert float(defaults["MEDIA_CACHE_BYTES"]) == sweeper.MAX_BYTES
