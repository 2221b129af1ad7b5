"""What an overlay may add: Ingress and autoscaler, and the objects of the Prometheus operator."""

import pytest

from api.config import Settings
from tests.harness.operations.manifests import (
    KUBERNETES,
    OPERATIONS,
    Manifest,
    container,
    documents,
    named,
    of_kind,
    pod_labels,
    port_names,
    resources,
)

EXTRAS = resources(KUBERNETES / "ingress")
INSTALLED = [each for part in ("base", "api", "streams") for each in resources(KUBERNETES / part)]
MONITORS = documents(OPERATIONS / "observability/pod-monitors.yaml")


def test_the_ingress_leads_to_the_rest_layer() -> None:
    """Only by its port for customers, with TLS, and with bodies as large as it accepts."""
    (ingress,) = of_kind(EXTRAS, "Ingress")
    (rule,) = ingress["spec"]["rules"]
    backend = rule["http"]["paths"][0]["backend"]["service"]
    service = named(INSTALLED, "Service", backend["name"])
    assert backend["port"]["name"] in {each["name"] for each in service["spec"]["ports"]}
    assert ingress["spec"]["tls"][0]["hosts"] == [rule["host"]]
    size = ingress["metadata"]["annotations"]["nginx.ingress.kubernetes.io/proxy-body-size"]
    assert int(size.removesuffix("m")) * 2**20 > Settings.model_fields["max_upload_bytes"].default


def test_the_rest_layer_scales() -> None:
    """Not below its number without the autoscaler, whose share is of the CPU that it requests."""
    (scaler,) = of_kind(EXTRAS, "HorizontalPodAutoscaler")
    target = scaler["spec"]["scaleTargetRef"]
    owner = named(INSTALLED, target["kind"], target["name"])
    assert target["name"] == "switchroom-api"
    assert scaler["spec"]["minReplicas"] >= owner["spec"]["replicas"]
    assert "cpu" in container(owner)["resources"]["requests"]


@pytest.mark.parametrize("monitor", MONITORS, ids=lambda each: each["metadata"]["name"])
def test_monitors_scrape_the_pods(monitor: Manifest) -> None:
    """By a port that their pods have, under the job name that Prometheus has without Kubernetes."""
    spec = monitor["spec"]
    labels = spec["selector"]["matchLabels"]
    (owner,) = [
        each
        for each in (*of_kind(INSTALLED, "Deployment"), *of_kind(INSTALLED, "StatefulSet"))
        if labels.items() <= pod_labels(each).items()
    ]
    (endpoint,) = spec["podMetricsEndpoints"]
    assert endpoint["port"] in port_names(owner)
    (job,) = [each["replacement"] for each in endpoint["relabelings"]]
    assert f"  - job_name: {job} " in (OPERATIONS / "metrics.md").read_text()
