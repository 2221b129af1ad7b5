"""Traces of a call: from the REST request over the RPC to ARI and webhook requests."""

from pathlib import Path

import aiohttp

from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.api import NUMBER, Api
from tests.harness.servers.engine import Engine
from tests.harness.servers.span_collector import Collector
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPANS = ("REST POST /srmain/voice/call", "RPC POST /calls", "webhook", "ARI POST channels")
HEADERS = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}


async def test_one_trace_from_request_to_webhook(tmp_path: Path, hooks: WebhookServer) -> None:
    """The RPC span is a child of the REST span; ARI and webhook spans are children of the RPC's."""
    trunk = free_port()
    pbx = Pbx(tmp_path / "pbx1", trunk=f"sip:127.0.0.1:{trunk}")
    async with Collector() as collector, pbx, Valkey(tmp_path / "valkey") as valkey:
        settings = {
            "OTEL_EXPORTER_OTLP_ENDPOINT": collector.url(),
            "OTEL_BSP_SCHEDULE_DELAY": "100",  # milliseconds
        }
        engine = Engine(tmp_path / "engine", valkey=valkey, nodes=[pbx], settings=settings)
        api = Api(tmp_path / "api", engines=[engine], settings=settings)
        async with engine, api, Phone.answering(trunk) as phone:
            lab = Lab(valkey, pbx, engine, trunk)
            call = await _start_call(api, hooks.answers("/next", None))
            await lab.wait_ended(call)
            await phone.wait_ended()
            await until(lambda: all(map(collector.named, SPANS)), what="the spans")
    ((rest,), (rpc,), (webhook,), (created,)) = map(collector.named, SPANS)
    assert rest.trace == rpc.trace == webhook.trace == created.trace == TRACE
    assert rest.parent == HEADERS["traceparent"].split("-")[2]
    assert rpc.parent == rest.span
    assert webhook.parent == created.parent == rpc.span
    assert all(s.attributes["switchroom.call_id"] == call for s in (rpc, webhook, created))
    carried = hooks.requests[0].headers["traceparent"].split("-")
    assert carried[1:3] == [TRACE, webhook.span]


async def _start_call(api: Api, action: object) -> str:
    body = {"from": NUMBER, "to": "+15550100", "action": action}
    headers = {**HEADERS, "Authorization": await api.token()}
    async with (
        aiohttp.ClientSession(headers=headers) as session,
        session.post(f"{api.url}/srmain/voice/call", json=body) as reply,
    ):
        return str((await reply.json())["callId"])
