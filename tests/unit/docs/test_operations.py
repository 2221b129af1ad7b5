"""Dashboard, alerts, metrics' list and runbook: they speak of what an engine really tells."""

import asyncio
import json
import re
from collections.abc import Iterator, Mapping
from functools import reduce
from pathlib import Path
from typing import Any

import promql_parser
import yaml
from prometheus_client import generate_latest
from prometheus_client.parser import text_string_to_metric_families

from api.metrics import Metrics as ApiMetrics
from engine.observe.metrics import Metrics
from engine.rpc.metrics import MetricsPage
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.base.context import EngineContext
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from streams.control.server import metrics_page
from streams.stream.metrics import StreamMetrics
from tests.harness.each import for_each
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.shard_scene import ManualClock

OPERATIONS = Path(__file__).parents[3] / "docs/operations"
NAME = re.compile(r"\b(?:switchroom|process)_[a-z_]+")
MACROS = {"$__rate_interval": "5m", "$instance": ".*", "$node": ".*", "$rest": ".*"}


def _shown() -> Mapping[str, str]:
    """Name all metrics that an engine shows, as they may be queried, with their kinds."""
    clock = ManualClock()
    switch = CallService(
        EngineContext(MemoryStore(), clock), AdmissionConfig(ShardMap(1, ["pbx1"]), 1)
    )
    page = asyncio.run(
        MetricsPage(switch, ShardMap(1, ["pbx1"]), Metrics(), lambda: 0).render()
    ).decode()
    return _kinds(page)


def _shown_by_rest() -> Mapping[str, str]:
    """Name all metrics that the REST layer shows, as they may be queried, with their kinds."""
    return _kinds(generate_latest(ApiMetrics().registry).decode())


def _shown_by_gateways() -> Mapping[str, str]:
    """Name all metrics that a stream gateway shows, as they may be queried, with their kinds."""
    return _kinds(metrics_page(StreamMetrics(), 0, 0).decode())


def _kinds(page: str) -> Mapping[str, str]:
    kinds: dict[str, str] = {}
    for family in text_string_to_metric_families(page):
        ends = {"counter": ("_total",), "histogram": ("_bucket", "_count", "_sum")}
        kinds |= {family.name + end: family.type for end in ends.get(family.type, ("",))}
    return kinds


def _all_shown() -> Mapping[str, str]:
    return {**_shown(), **_shown_by_rest(), **_shown_by_gateways()}


def _alerts() -> list[dict[str, Any]]:
    groups = yaml.safe_load((OPERATIONS / "alerts.yaml").read_text())["groups"]
    return [rule for group in groups for rule in group["rules"]]


def _panels() -> list[dict[str, Any]]:
    board = json.loads((OPERATIONS / "dashboard.json").read_text())
    return [panel for panel in board["panels"] if panel["type"] != "row"]


def _dashboards() -> Iterator[str]:
    board = json.loads((OPERATIONS / "dashboard.json").read_text())
    queries = [target["expr"] for panel in _panels() for target in panel["targets"]]
    for query in (*queries, *(each["expr"] for each in board["annotations"]["list"])):
        yield reduce(lambda text, macro: text.replace(*macro), MACROS.items(), query)


QUERIES = [*(alert["expr"] for alert in _alerts()), *_dashboards()]


@for_each(QUERIES)
def test_a_query_is_promql_about_metrics_that_there_are(query: str) -> None:
    """It parses, and each metric in it stands on /metrics."""
    promql_parser.parse(query)
    assert set(NAME.findall(query)) <= _all_shown().keys()
    assert NAME.search(query) or query.startswith("up{")


# What must raise an alarm: the metric, and the label value that an alert must name, if any.
SECURITY_EVENTS = {
    "wrong keys": ("switchroom_api_request_seconds_count", "401"),
    "denied scopes": ("switchroom_api_request_seconds_count", "403"),
    "throttled": ("switchroom_api_request_seconds_count", "429"),
    "rejected legs": ("switchroom_parties_rejected_total", "reason"),
    "costly numbers": ("switchroom_parties_rejected_total", "number_type"),
    "stopped accounts": ("switchroom_parties_rejected_total", "account_stopped"),
    "declined REFERs": ("switchroom_refers_declined_total", ""),
    "audit failures": ("switchroom_api_audit_failures_total", ""),
}


@for_each(SECURITY_EVENTS)
def test_every_security_event_has_an_alert(event: str) -> None:
    """A rule reads its metric, which is there."""
    metric, label = SECURITY_EVENTS[event]
    assert metric in _shown().keys() | _shown_by_rest().keys()
    assert [each for each in _alerts() if metric in each["expr"] and label in str(each)]


def test_every_metric_is_documented() -> None:
    """The list in metrics.md is complete, and names nothing that is not there."""
    listed = set(re.findall(r"^\| `(switchroom_\w+)` \| (\w+)", _read("metrics.md"), re.MULTILINE))
    ours = {name: kind for name, kind in _all_shown().items() if name.startswith("switchroom_")}
    shown = {(re.sub("_(bucket|count|sum)$", "", name), kind) for name, kind in ours.items()
             if kind == "histogram"}  # fmt: skip
    shown |= {(name, kind) for name, kind in ours.items() if kind != "histogram"}
    assert listed == shown


def test_every_metric_can_be_seen() -> None:
    """The dashboard leaves none out but the limits that others are shown as shares of."""
    drawn = {re.sub("_(bucket|count|sum)$", "", name)
             for query in _dashboards() for name in NAME.findall(query)}  # fmt: skip
    families = {re.sub("_(bucket|count|sum)$", "", name)
                for name in _all_shown() if name.startswith("switchroom_")}  # fmt: skip
    assert families <= drawn


def test_every_alert_has_its_page_in_the_runbook() -> None:
    """An alert leads to a heading of its own name, and no heading is left without its alert."""
    names = [alert["alert"] for alert in _alerts()]
    assert names == re.findall(r"^### (Switchroom\w+)$", _read("runbook.md"), re.MULTILINE)
    for alert in _alerts():
        anchor = alert["annotations"]["runbook"]
        assert anchor == f"docs/operations/runbook.md#{alert['alert'].lower()}"
        address = alert["annotations"]["runbook_url"]
        site = "{{ $externalLabels.switchroom_docs }}/operations/runbook/"
        assert address == f"{site}#{alert['alert'].lower()}"
        assert alert["labels"]["severity"] in {"page", "ticket"}
        assert alert["annotations"]["summary"]


def test_every_panel_says_what_it_shows() -> None:
    """It has a sentence for who does not know the metric, and a unit."""
    for panel in _panels():
        assert panel["description"].endswith("."), panel["title"]
        assert panel["fieldConfig"]["defaults"]["unit"], panel["title"]


def _read(name: str) -> str:
    return (OPERATIONS / name).read_text()
