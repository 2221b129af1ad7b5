"""The alerts of Alertmanager or Prometheus: from the address of the settings, and no other."""

from pathlib import Path

import pytest

from api.operations.alerts import (
    MAX_RESPONSE_BYTES,
    NOT_CONFIGURED,
    NOT_UNDERSTOOD,
    UNREACHABLE,
    open_alert_source,
)
from api.operations.schemas import AlertList
from tests.contract.api.operations.keys import key
from tests.harness.api.databases import sqlite_url
from tests.harness.api.operations.alert_server import MANAGER, PROMETHEUS, AlertServer
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.ports import free_port
from tests.harness.rpc.scene import RpcScene

PAGE = "https://docs.example.com/operations/runbook/#switchroomenginedown"
ALERT = {
    "labels": {"alertname": "SwitchroomEngineDown", "severity": "page", "instance": "engine1"},
    "annotations": {"summary": "engine1 does not answer", "runbook_url": PAGE},
}


async def firing(server: AlertServer, prefix: str = "") -> AlertList:
    """Read the alerts of a server."""
    async with server.running(), open_alert_source(f"{server.url}{prefix}/") as source:
        return await source.firing()


async def test_alerts_of_alertmanager() -> None:
    """Silenced and inhibited ones are left out by the request; the worst come first."""
    ticket = {
        "labels": {"alertname": "A", "severity": "ticket"},
        "startsAt": "2026-11-27T08:00:00Z",
    }
    page = {**ALERT, "startsAt": "2026-11-27T09:00:00Z", "status": {"state": "active"}}
    server = AlertServer({MANAGER: [ticket, page]})
    found = await firing(server)
    assert (found.total, found.reason) == (2, "")
    first, second = found.data
    assert (first.name, first.severity, first.since) == (
        "SwitchroomEngineDown",
        "page",
        "2026-11-27T09:00:00Z",
    )
    assert (first.summary, first.runbook_url) == ("engine1 does not answer", PAGE)
    assert first.labels == {"instance": "engine1"}
    assert (second.name, second.runbook_url) == ("A", "")
    assert server.requests == [f"{MANAGER}?active=true&silenced=false&inhibited=false"]


async def test_alerts_of_prometheus() -> None:
    """It has no such path of Alertmanager; alerts that do not fire yet are left out."""
    active = {**ALERT, "state": "firing", "activeAt": "2026-11-27T09:00:00Z", "value": "1e+00"}
    pending = {**ALERT, "state": "pending"}
    body = {"status": "success", "data": {"alerts": [active, pending]}}
    server = AlertServer({f"/prometheus{PROMETHEUS}": body})
    found = await firing(server, "/prometheus")
    assert [(each.name, each.since) for each in found.data] == [
        ("SwitchroomEngineDown", "2026-11-27T09:00:00Z")
    ]


@pytest.mark.parametrize(
    "address",
    ["javascript:alert(1)", "/operations/runbook/", "//example.com/x", "http://[", "data:x"],
)
async def test_only_web_addresses_are_links(address: str) -> None:
    """A rule, or whoever can send alerts, cannot put a script or another page into the console."""
    alert = {**ALERT, "annotations": {"runbook_url": address}}
    found = await firing(AlertServer({MANAGER: [alert]}))
    assert found.data[0].runbook_url == ""


async def test_a_redirect_is_not_followed() -> None:
    """The server of the setting cannot lead the REST layer to another one."""
    server = AlertServer({MANAGER: [ALERT], "/elsewhere": [ALERT]}, status=302)
    assert (await firing(server)).reason == NOT_UNDERSTOOD
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b'{"a":1}',
        b'[{"labels":{"a":1}}]',
        b"[" + b" " * MAX_RESPONSE_BYTES + b"]",
        b"",
        '[{"labels":{"a":"å"}}]'.encode("latin-1"),
    ],
)
async def test_other_answers_are_said_as_such(body: bytes) -> None:
    """Neither an error page nor a large response is shown or kept."""
    assert await firing(AlertServer({MANAGER: body})) == AlertList((), 0, NOT_UNDERSTOOD)


async def test_a_server_that_is_neither() -> None:
    """It has none of the paths."""
    assert (await firing(AlertServer({}))).reason == NOT_UNDERSTOOD


async def test_a_server_that_is_away() -> None:
    """The page of operators works without it."""
    async with open_alert_source(f"http://127.0.0.1:{free_port()}") as source:
        assert await source.firing() == AlertList((), 0, UNREACHABLE)


async def test_without_the_setting_there_are_none(rest: Rest) -> None:
    """The response says why, and names the setting."""
    answer = await rest.request("GET", "/srmain/operations/alerts", token=await _operator(rest))
    assert answer.json() == {"data": [], "total": 0, "reason": NOT_CONFIGURED}


async def test_nothing_of_a_request_reaches_the_server(tmp_path: Path, scene: RpcScene) -> None:
    """A query cannot change what is requested from it."""
    server = AlertServer({MANAGER: [ALERT]})
    async with server.running():
        settings = settings_for(sqlite_url(tmp_path), scene.url, alerts_url=server.url)
        async with run_rest(settings, scene) as rest:
            path = "/srmain/operations/alerts?url=http://127.0.0.1:1/&filter=x"
            answer = await rest.request("GET", path, token=await _operator(rest))
    assert answer.json()["total"] == 1
    assert server.requests == [f"{MANAGER}?active=true&silenced=false&inhibited=false"]


async def _operator(rest: Rest) -> str:
    return await key(rest, ["operations"])
