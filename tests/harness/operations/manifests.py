"""The kustomizations in docs/operations/kubernetes, and their resources."""

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
