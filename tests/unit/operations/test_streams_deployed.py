"""The stream gateway as operators deploy it: its settings, its unit and its image."""

from pathlib import Path

from streams.settings import Settings
from tests.harness.operations.inputs import PREFIX, filled
from tests.harness.operations.manifests import SYSTEMD, environment_files, unit
from tools.lock import ROOT

EXAMPLE = filled(SYSTEMD / "streams.env.example")


def settings(folder: Path) -> Settings:
    """Return the settings of the example."""
    path = folder / "variables.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in EXAMPLE.items()))
    return Settings(_env_file=path)


def test_its_variables_are_settings(tmp_path: Path) -> None:
    """Every variable is one, and no required one is missing; engines reach it over TLS."""
    assert {name.removeprefix(PREFIX).lower() for name in EXAMPLE} <= Settings.model_fields.keys()
    assert settings(tmp_path).streams_tls_cert is not None


def test_its_unit_waits_for_a_drain(tmp_path: Path) -> None:
    """And reads its file."""
    service = unit("switchroom-streams.service")["Service"]
    assert environment_files("switchroom-streams.service") == ["/etc/switchroom/streams.env"]
    assert int(service["TimeoutStopSec"]) > settings(tmp_path).streams_drain_s
    assert service["ExecStart"].endswith("/switchroom streams")


def test_its_image_has_its_packages_only() -> None:
    """From its own lock file."""
    text = (ROOT / "Dockerfile").read_text()
    assert "AS streams\n" in text
    assert "python3 lock/program.py streams >" in text
