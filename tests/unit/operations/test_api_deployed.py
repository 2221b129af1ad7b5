"""The REST layer as operators run it: what its files on hosts and in Kubernetes say is settings."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from dotenv import dotenv_values

from api.config import Settings
from tests.unit.operations.inputs import PREFIX
from tests.unit.operations.manifests import KUBERNETES, container, documents, named
from tests.unit.operations.test_systemd import SYSTEMD, asked_files, unit

OVERLAY = KUBERNETES / "overlays/example"
DEPLOYED = documents(KUBERNETES / "api/api.yaml")


def kubernetes() -> dict[str, str]:
    """Gather what the container's own variables and its secret say."""
    own = container(named(DEPLOYED, "Deployment", "switchroom-api"))["env"]
    return {each["name"]: each["value"] for each in own} | example(OVERLAY / "api.env.example")


def systemd() -> dict[str, str]:
    """Gather what its file says."""
    return example(SYSTEMD / "api.env.example")


def example(path: Path) -> dict[str, str]:
    """Read an example whose secrets somebody has filled in."""
    return {name: value or "s" * 32 for name, value in dotenv_values(path).items()}


@pytest.mark.parametrize("given", [kubernetes(), systemd()], ids=["kubernetes", "systemd"])
def test_it_takes_its_settings(given: Mapping[str, str], tmp_path: Path) -> None:
    """Every variable is a setting, and none that it needs is missing."""
    assert {name.removeprefix(PREFIX).lower() for name in given} <= Settings.model_fields.keys()
    path = tmp_path / "given.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in given.items()))
    settings = Settings(_env_file=path)
    assert settings.database_url.startswith("postgresql")
    assert len(settings.engine_urls) == given["SWITCHROOM_ENGINE_URLS"].count("http")


def test_it_asks_the_engines_service() -> None:
    """By the name and port that the engines' manifests give it."""
    service = named(documents(KUBERNETES / "base/services.yaml"), "Service", "switchroom-engine")
    (port,) = service["spec"]["ports"]
    asked = f"http://{service['metadata']['name']}:{port['port']}"
    assert kubernetes()["SWITCHROOM_ENGINE_URLS"] == f'["{asked}"]'


def test_its_unit_reads_its_file() -> None:
    """And is started again, whatever happened."""
    assert asked_files("switchroom-api.service") == ["/etc/switchroom/api.env"]
    assert unit("switchroom-api.service")["Service"]["Restart"] == "always"
