"""The kustomizations in docs/operations/kubernetes, and their resources."""

import re
from collections.abc import Iterator, Mapping
from configparser import RawConfigParser
from pathlib import Path
from typing import Any

import yaml

from tests.harness.operations.inputs import (
    filled,
)

OPERATIONS = Path(__file__).parents[3] / "docs/operations"
KUBERNETES = OPERATIONS / "kubernetes"
OVERLAYS = sorted((KUBERNETES / "overlays").iterdir())

Manifest = dict[str, Any]
POD_OWNERS = {"Deployment", "StatefulSet"}


def kustomization(folder: Path) -> Manifest:
    """Read a folder's kustomization."""
    found: Manifest = yaml.safe_load((folder / "kustomization.yaml").read_text())
    return found


def resources(folder: Path) -> list[Manifest]:
    """Return the resources of a kustomization, including those of other folders."""
    found: list[Manifest] = []
    for name in kustomization(folder)["resources"]:
        path = (folder / name).resolve()
        found += resources(path) if path.is_dir() else documents(path)
    return found


def documents(path: Path) -> list[Manifest]:
    """Read a file's documents."""
    return list(yaml.safe_load_all(path.read_text()))


def of_kind(found: list[Manifest], *kinds: str) -> list[Manifest]:
    """Return the resources of some kinds."""
    return [each for each in found if each["kind"] in kinds]


def named(found: list[Manifest], kind: str, name: str) -> Manifest:
    """Find the one resource of a kind and a name."""
    (only,) = [each for each in of_kind(found, kind) if each["metadata"]["name"] == name]
    return only


def selected_by(labels: Mapping[str, str], found: list[Manifest]) -> list[Manifest]:
    """Return the owners whose pods a selector matches."""
    owners = of_kind(found, *POD_OWNERS)
    return [each for each in owners if labels.items() <= pod_labels(each).items()]


def pod_labels(owner: Manifest) -> dict[str, str]:
    """Return the labels of its pods."""
    labels: dict[str, str] = owner["spec"]["template"]["metadata"]["labels"]
    return labels


def pod(owner: Manifest) -> Manifest:
    """Return the spec of its pods."""
    spec: Manifest = owner["spec"]["template"]["spec"]
    return spec


def container(owner: Manifest) -> Manifest:
    """Return the only container of its pods."""
    (only,) = pod(owner)["containers"]
    return dict(only)


def port_names(owner: Manifest) -> set[str]:
    """Return the names of its ports."""
    return {port["name"] for port in container(owner)["ports"]}


def values_at(tree: object, key: str) -> Iterator[Any]:
    """Find all values of a key, at any depth."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from values_at(value, key)
    elif isinstance(tree, list):
        for each in tree:
            yield from values_at(each, key)


ADDRESS = "10.1.2.3"

NAMESPACE = "switchroom"

BASE = resources(KUBERNETES / "base")

DEPLOYMENT = named(BASE, "Deployment", "switchroom-engine")

ENGINE = container(DEPLOYMENT)


def generated(overlay: Path) -> dict[str, str]:
    """Return the variables of an overlay's files, with secrets filled in."""
    return {**filled(overlay / "settings.env"), **filled(overlay / "secrets.env.example")}


def set_by_manifest() -> dict[str, str]:
    """Return the variables that the manifest sets, in a pod of a known address."""
    env = {each["name"]: each["value"] for each in ENGINE["env"] if "value" in each}
    pod_env = {"POD_IP": ADDRESS, "POD_NAMESPACE": NAMESPACE}
    return {**env, "SWITCHROOM_RPC_URL": expanded(ENGINE["args"][0], pod_env)}


def expanded(script: str, env: dict[str, str]) -> str:
    """Return the URL that the pod's script computes: a name of its address."""
    assert 'name=$(echo "$POD_IP" | tr .: -)' in script
    url = re.search(r'SWITCHROOM_RPC_URL="(.*?)"', script)
    assert url is not None
    name = env["POD_IP"].translate(str.maketrans(".:", "--"))
    return url[1].replace("$name", name).replace("$POD_NAMESPACE", env["POD_NAMESPACE"])


SYSTEMD = OPERATIONS / "systemd"


def unit(name: str) -> RawConfigParser:
    """Read a unit; of a repeated key the last one applies."""
    found = RawConfigParser(strict=False)
    found.read(SYSTEMD / name)
    return found


def environment_files(name: str) -> list[str]:
    """Return the environment files of a unit."""
    lines = (SYSTEMD / name).read_text().splitlines()
    return [line.partition("=")[2] for line in lines if line.startswith("EnvironmentFile=")]
