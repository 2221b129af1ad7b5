"""What lies in docs/operations/kubernetes: kustomizations, and the resources that they gather."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

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
    """Gather what a kustomization lists, through all folders that it names."""
    found: list[Manifest] = []
    for name in kustomization(folder)["resources"]:
        path = (folder / name).resolve()
        found += resources(path) if path.is_dir() else documents(path)
    return found


def documents(path: Path) -> list[Manifest]:
    """Read a file's documents."""
    return list(yaml.safe_load_all(path.read_text()))


def of_kind(found: list[Manifest], *kinds: str) -> list[Manifest]:
    """Choose by kind."""
    return [each for each in found if each["kind"] in kinds]


def named(found: list[Manifest], kind: str, name: str) -> Manifest:
    """Find the one resource of a kind and a name."""
    (only,) = [each for each in of_kind(found, kind) if each["metadata"]["name"] == name]
    return only


def chosen_by(labels: Mapping[str, str], found: list[Manifest]) -> list[Manifest]:
    """Tell whose pods a selector matches."""
    owners = of_kind(found, *POD_OWNERS)
    return [each for each in owners if labels.items() <= pod_labels(each).items()]


def pod_labels(owner: Manifest) -> dict[str, str]:
    """Tell what labels its pods have."""
    labels: dict[str, str] = owner["spec"]["template"]["metadata"]["labels"]
    return labels


def pod(owner: Manifest) -> Manifest:
    """Give what its pods are made by."""
    spec: Manifest = owner["spec"]["template"]["spec"]
    return spec


def container(owner: Manifest) -> Manifest:
    """Give the one container of its pods."""
    (only,) = pod(owner)["containers"]
    return dict(only)


def port_names(owner: Manifest) -> set[str]:
    """Name its ports."""
    return {port["name"] for port in container(owner)["ports"]}


def values_at(tree: object, key: str) -> Iterator[Any]:
    """Find every value that a key has anywhere."""
    if isinstance(tree, dict):
        for name, value in tree.items():
            if name == key:
                yield value
            yield from values_at(value, key)
    elif isinstance(tree, list):
        for each in tree:
            yield from values_at(each, key)
