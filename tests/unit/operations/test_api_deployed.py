"""The REST layer as operators deploy it: its settings, and where it may write modules."""

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import yaml
from dotenv import dotenv_values

from api.config import Settings
from tests.harness.operations.inputs import PREFIX
from tests.harness.operations.manifests import (
    KUBERNETES,
    SYSTEMD,
    container,
    documents,
    environment_files,
    named,
    unit,
)

ROOT = Path(__file__).parents[3]
OVERLAY = KUBERNETES / "overlays/example"
DEPLOYED = documents(KUBERNETES / "api/api.yaml")


def kubernetes() -> dict[str, str]:
    """Return the variables of the container and of its secret."""
    env = container(named(DEPLOYED, "Deployment", "switchroom-api"))["env"]
    return {each["name"]: each["value"] for each in env} | example(OVERLAY / "api.env.example")


def systemd() -> dict[str, str]:
    """Return the variables of its file."""
    return example(SYSTEMD / "api.env.example")


def example(path: Path) -> dict[str, str]:
    """Read an example, with its secrets filled in."""
    return {name: value or "s" * 32 for name, value in dotenv_values(path).items()}


@pytest.mark.parametrize("variables", [kubernetes(), systemd()], ids=["kubernetes", "systemd"])
def test_its_variables_are_settings(variables: Mapping[str, str], tmp_path: Path) -> None:
    """Every variable is a setting, and no required one is missing."""
    assert {name.removeprefix(PREFIX).lower() for name in variables} <= Settings.model_fields.keys()
    path = tmp_path / "variables.env"
    path.write_text("".join(f"{name}='{value}'\n" for name, value in variables.items()))
    settings = Settings(_env_file=path)
    assert settings.database_url.startswith("postgresql")
    assert len(settings.engine_urls) == variables["SWITCHROOM_ENGINE_URLS"].count("http")


def test_it_connects_to_the_engines_service() -> None:
    """By the name and port of the engines' manifests."""
    service = named(documents(KUBERNETES / "base/services.yaml"), "Service", "switchroom-engine")
    (port,) = service["spec"]["ports"]
    url = f"https://{service['metadata']['name']}:{port['port']}"
    assert kubernetes()["SWITCHROOM_ENGINE_URLS"] == f'["{url}"]'


def test_its_unit_reads_its_file() -> None:
    """And restarts always."""
    assert environment_files("switchroom-api.service") == ["/etc/switchroom/api.env"]
    assert unit("switchroom-api.service")["Service"]["Restart"] == "always"


def test_it_may_write_what_its_image_compiles() -> None:
    """Its image has no compiled modules; without a place for them, each program compiles them."""
    stage = (ROOT / "Dockerfile").read_text().partition("AS api\n")[2]
    (folder,) = re.findall(r"PYTHONPYCACHEPREFIX=(\S+)", stage)
    mounts = container(named(DEPLOYED, "Deployment", "switchroom-api"))["volumeMounts"]
    writable = {each["mountPath"] for each in mounts if not each.get("readOnly")}
    service = yaml.safe_load((ROOT / "docker-compose.yml").read_text())["services"]["api"]
    assert str(Path(folder).parent) in writable
    assert [each.partition(":")[0] for each in service["tmpfs"]] == [str(Path(folder).parent)]
