"""The chart, as Helm itself reads it."""

import json
import subprocess
from pathlib import Path
from typing import Any

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest
import yaml

from tests.harness.helm import NoHelm, find_helm
from tests.harness.operations.helm import CHART, rendered, values

VERSIONS = ("1.32", "1.37")  # the oldest and newest supported
GIVEN = {
    "engine": {
        "image": "r.example/e@sha256:0",
        "replicas": 5,
        "secret": "mine",
        "settings": {"SWITCHROOM_LOG_LEVEL": "debug", "SWITCHROOM_CALLER_ID": '+1"5'},
        "resources": {"limits": {"memory": "3Gi"}},
    },
    "streams": {"enabled": True, "settings": {"SWITCHROOM_MAX_STREAMS": "200"}},
    "speech": {"replicas": 0},
    "network": {"pbx": ["198.51.100.1/32", "2001:db8::1/128"], "storePort": 6380},
}


@pytest.fixture(scope="module")
def helm() -> Path:
    """Provide the program."""
    try:
        return find_helm()
    except NoHelm as reason:
        pytest.skip(str(reason))


def run(helm: Path, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Helm without a cluster and without settings of a user."""
    environment = {"HOME": str(folder), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [str(helm), *words], check=False, capture_output=True, text=True, env=environment
    )


def template(helm: Path, folder: Path, version: str, given: Any) -> list[dict[str, Any]]:
    """Return the objects that Helm renders with values of a user."""
    (folder / "mine.yaml").write_text(json.dumps(given))
    options = ("--kube-version", version, "--values", str(folder / "mine.yaml"))
    done = run(helm, folder, "template", "switchroom", str(CHART), *options)
    assert done.returncode == 0, done.stderr
    return [each for each in yaml.safe_load_all(done.stdout) if each]


def merged(default: Any, given: Any) -> Any:
    """Return values with those of a user, as Helm merges them."""
    if not isinstance(default, dict) or not isinstance(given, dict):
        return given
    return default | {key: merged(default.get(key), each) for key, each in given.items()}


def by_name(found: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(each["kind"], each["metadata"]["name"]): each for each in found}


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("given", [{}, GIVEN], ids=["defaults", "given"])
def test_helm_renders_valid_objects(
    helm: Path, tmp_path: Path, version: str, given: dict[str, Any]
) -> None:
    """Kubernetes knows every field; the renderer of the unit tests gives the same objects."""
    found = template(helm, tmp_path, version, given)
    assert found
    for each in found:
        kubernetes_validate.validate(each, version, strict=True)
    assert by_name(found) == by_name(rendered(merged(values(), given)))


def test_helm_finds_no_fault(helm: Path, tmp_path: Path) -> None:
    """`helm lint` and `helm package` accept the chart."""
    linted = run(helm, tmp_path, "lint", "--strict", str(CHART))
    assert linted.returncode == 0, linted.stdout
    packed = run(helm, tmp_path, "package", str(CHART), "--destination", str(tmp_path))
    assert packed.returncode == 0, packed.stderr
    assert list(tmp_path.glob("switchroom-*.tgz"))


@pytest.mark.parametrize(
    ("given", "named"),
    [({"network": {"store": []}}, "store"), ({"engine": {"replica": 3}}, "replica")],
)
def test_helm_refuses_what_the_schema_refuses(
    helm: Path, tmp_path: Path, given: dict[str, Any], named: str
) -> None:
    """An empty list would allow everybody; a misspelled value would have no effect."""
    (tmp_path / "mine.yaml").write_text(json.dumps(given))
    command = ("template", "switchroom", str(CHART), "--values", str(tmp_path / "mine.yaml"))
    refused = run(helm, tmp_path, *command)
    assert refused.returncode != 0
    assert named in refused.stderr
