"""The speech recognizers as operators deploy them: their settings, their unit and their image."""

from pathlib import Path

from speech.settings import Settings
from tests.harness.operations.inputs import PREFIX, filled
from tests.harness.operations.manifests import SYSTEMD, environment_files, unit
from tools.lock import ROOT

EXAMPLE = filled(SYSTEMD / "speech.env.example")


def test_its_variables_are_settings(tmp_path: Path) -> None:
    """Every variable is one, no required one is missing, and only this host reaches it."""
    assert {name.removeprefix(PREFIX).lower() for name in EXAMPLE} <= Settings.model_fields.keys()
    path = tmp_path / "variables.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in EXAMPLE.items()))
    assert Settings(_env_file=path).speech_host == "127.0.0.1"


def test_its_unit_reads_its_file() -> None:
    """And runs it."""
    service = unit("switchroom-speech.service")["Service"]
    assert environment_files("switchroom-speech.service") == ["/etc/switchroom/speech.env"]
    assert service["ExecStart"].endswith("/switchroom speech")


def test_its_image_has_its_packages_only() -> None:
    """From its own lock file."""
    text = (ROOT / "Dockerfile").read_text()
    assert "AS speech\n" in text
    assert "python3 lock/program.py speech >" in text
