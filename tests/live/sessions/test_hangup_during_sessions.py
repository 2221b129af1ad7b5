"""A hangup is accepted while no engine reaches the node; its engine dies, another executes it."""

from pathlib import Path

from tests.harness.live_lab import Lab
from tests.harness.phones.phone import Phone
from tests.harness.ports import free_port
from tests.harness.servers.cluster import Cluster
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.until import until


async def test_an_accepted_hangup_survives_a_takeover(tmp_path: Path) -> None:
    """An accepted hangup is stored, so any engine that reaches the node executes it."""
    cluster = Cluster(tmp_path, engines=0)
    ari = cluster.nodes[0].ports.ari
    async with TcpProxy(ari) as one, TcpProxy(ari) as two:
        leaving, staying = cluster.add_engine(proxies=[one]), cluster.add_engine(proxies=[two])
        async with cluster, Phone.answering(free_port()) as phone:
            gather = {"type": "gather", "data": {"timeout": 300_000}}
            call = await leaving.call(to=phone.address, action=gather)
            await leaving.wait_for_state(call, "gathering")
            one.cut()
            two.cut()
            await _wait_for_disconnect(leaving)
            view = await leaving.engine.rpc("POST", f"/calls/{call}/hangup", {})
            assert view["state"] == "ending"
            await leaving.engine.kill()
            assert not phone.is_ended
            two.restore()
            await phone.wait_ended()
            await staying.wait_ended(call)
            requests = [
                each
                for each in await staying.timeline_events(call)
                if each["type"] == "hangup-requested"
            ]
            assert len(requests) == 1
            await cluster.wait_empty()


async def _wait_for_disconnect(lab: Lab) -> None:
    log = lab.engine.log
    await until(lambda: "node disconnected" in log.read_text(), what="the disconnect to be logged")
