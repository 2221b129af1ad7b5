"""The manifests: valid by Kubernetes' schemas, and consistent."""

from pathlib import Path

import kubernetes_validate  # type: ignore[import-untyped]  # it has no types
import pytest

from tests.harness.operations.manifests import (
    KUBERNETES,
    OVERLAYS,
    POD_OWNERS,
    Manifest,
    container,
    documents,
    kustomization,
    named,
    of_kind,
    pod,
    pod_labels,
    port_names,
    resources,
    selected_by,
    values_at,
)

VERSIONS = ("1.32", "1.37")
FOLDERS = sorted(path.parent for path in KUBERNETES.rglob("kustomization.yaml"))


def in_each(paths: list[Path]) -> pytest.MarkDecorator:
    """Run a test for each folder."""
    ids = [str(path.relative_to(KUBERNETES)) for path in paths]
    return pytest.mark.parametrize("folder", paths, ids=ids)


def patches(folder: Path) -> list[Path]:
    """Return the patches of a folder, which are not complete resources."""
    return [folder / patch["path"] for patch in kustomization(folder).get("patches", [])]


@pytest.mark.parametrize("version", VERSIONS)
@in_each(FOLDERS)
def test_every_resource_is_valid(folder: Path, version: str) -> None:
    """Kubernetes knows every field, in the oldest and newest supported version."""
    for name in kustomization(folder)["resources"]:
        if (folder / name).is_file():
            for each in documents(folder / name):
                kubernetes_validate.validate(each, version, strict=True)


@in_each(FOLDERS)
def test_every_file_exists_and_is_used(folder: Path) -> None:
    """A kustomization names existing files, and every manifest in its folder."""
    config = kustomization(folder)
    files = {folder / name for name in config["resources"]} | set(patches(folder))
    assert not [path for path in files if not path.exists()]
    assert {*folder.glob("*.yaml")} - {folder / "kustomization.yaml"} <= files


@in_each(FOLDERS)
def test_secrets_are_not_committed(folder: Path) -> None:
    """Each has an example beside it; settings are committed."""
    config = kustomization(folder)
    for secret in config.get("secretGenerator", []):
        assert [(folder / f"{name}.example").exists() for name in secret["envs"]] == [True]
    for settings in config.get("configMapGenerator", []):
        assert [(folder / name).exists() for name in settings["envs"]] == [True]


@in_each(OVERLAYS)
def test_references_of_pods_exist(folder: Path) -> None:
    """Secrets and settings are generated; claims, accounts, volumes and images exist."""
    config, found = kustomization(folder), resources(folder)
    for kind, generator in (
        ("secretRef", "secretGenerator"),
        ("configMapRef", "configMapGenerator"),
    ):
        refs = {ref["name"] for ref in values_at(found, kind)}
        assert refs == {each["name"] for each in config.get(generator, [])}
    assert set(values_at(found, "image")) == {image["name"] for image in config["images"]}
    for account in values_at(found, "serviceAccountName"):
        assert named(found, "ServiceAccount", account)
    for owner in of_kind(found, *POD_OWNERS):
        assert mounted(owner) == volumes(owner)


def mounted(owner: Manifest) -> set[str]:
    """Return the names of its container's mounts."""
    return {mount["name"] for mount in container(owner)["volumeMounts"]}


def volumes(owner: Manifest) -> set[str]:
    """Return the names of its pods' volumes, including claims."""
    claims = owner["spec"].get("volumeClaimTemplates", [])
    return {
        *(volume["name"] for volume in pod(owner).get("volumes", [])),
        *(claim["metadata"]["name"] for claim in claims),
    }


@in_each(OVERLAYS)
def test_every_patch_has_its_target(folder: Path) -> None:
    """A patch names a resource of the overlay, and its claims exist."""
    found = resources(folder)
    for patch in kustomization(folder).get("patches", []):
        (document,) = documents(folder / patch["path"])[:1]
        target = patch.get("target") or {**document["metadata"], "kind": document["kind"]}
        assert named(found, target["kind"], target["name"])
        for claim in values_at(document, "claimName"):
            assert named(found, "PersistentVolumeClaim", claim)


@in_each(OVERLAYS)
def test_selectors_match_their_pods(folder: Path) -> None:
    """Services, budgets and policies select one workload each; a workload selects its own pods."""
    found = resources(folder)
    for owner in of_kind(found, *POD_OWNERS):
        assert owner["spec"]["selector"]["matchLabels"] == pod_labels(owner)
    for service in of_kind(found, "Service"):
        (owner,) = selected_by(service["spec"]["selector"], found)
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= port_names(owner)
    for budget in of_kind(found, "PodDisruptionBudget"):
        (owner,) = selected_by(budget["spec"]["selector"]["matchLabels"], found)
        assert budget["metadata"]["name"] == owner["metadata"]["name"]
    for policy in of_kind(found, "NetworkPolicy"):
        for rule in policy["spec"].get("egress", []):
            for to in rule["to"]:
                if labels := to.get("podSelector", {}).get("matchLabels"):
                    assert selected_by(labels, found)
        (owner,) = selected_by(policy["spec"]["podSelector"]["matchLabels"], found)
        assert {
            port["port"] for rule in policy["spec"].get("ingress", []) for port in rule["ports"]
        } <= (port_names(owner))


@in_each(OVERLAYS)
def test_a_stateful_set_has_its_service(folder: Path) -> None:
    """Its service exists, and selects its pods."""
    found = resources(folder)
    for owner in of_kind(found, "StatefulSet"):
        service = named(found, "Service", owner["spec"]["serviceName"])
        assert selected_by(service["spec"]["selector"], found) == [owner]


@in_each(OVERLAYS)
def test_probes_use_existing_ports(folder: Path) -> None:
    """Each workload has a readiness probe on a port of its own."""
    for owner in of_kind(resources(folder), *POD_OWNERS):
        spec = container(owner)
        assert "readinessProbe" in spec
        for action in ("httpGet", "tcpSocket"):
            assert {probe["port"] for probe in values_at(spec, action)} <= port_names(owner)


@in_each(OVERLAYS)
def test_every_container_is_restricted(folder: Path) -> None:
    """No root, no capabilities, a root file system that cannot be written, a limit of memory."""
    for owner in of_kind(resources(folder), *POD_OWNERS):
        spec = container(owner)
        assert spec["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        assert pod(owner)["securityContext"]["runAsNonRoot"]
        assert pod(owner)["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod(owner)["automountServiceAccountToken"] is False
        assert "memory" in spec["resources"]["limits"]


@in_each(OVERLAYS)
def test_pods_connect_to_what_they_need_only(folder: Path) -> None:
    """Each pod has an egress policy, except on the host's network, where none applies.

    Open rules leave out private networks and the metadata of clouds.
    """
    found = resources(folder)
    policies = [
        policy["spec"]
        for policy in of_kind(found, "NetworkPolicy")
        if "Egress" in policy["spec"]["policyTypes"]
    ]
    restricted = {
        owner["metadata"]["name"]
        for policy in policies
        for owner in selected_by(policy["podSelector"]["matchLabels"], found)
    }
    owners = of_kind(found, *POD_OWNERS)
    assert restricted == {
        each["metadata"]["name"] for each in owners if not pod(each).get("hostNetwork", False)
    }
    for block in (block for policy in policies for block in values_at(policy["egress"], "ipBlock")):
        if block["cidr"] == "0.0.0.0/0":
            assert {"10.0.0.0/8", "169.254.0.0/16", "192.168.0.0/16"} <= {*block["except"]}


@in_each(OVERLAYS)
def test_keys_of_tls_are_mounted_where_they_are_used(folder: Path) -> None:
    """Only a server has the key of its certificate; others have the CA alone."""
    for owner in of_kind(resources(folder), *POD_OWNERS):
        name = owner["metadata"]["name"]
        for volume in pod(owner).get("volumes", []):
            secret = volume.get("secret", {})
            is_own = secret.get("secretName") == f"{name}-tls"
            keys = [each["key"] for each in secret.get("items", [])]
            assert not secret or is_own or keys == ["ca.crt"]
