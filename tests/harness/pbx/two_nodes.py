"""Two PBX nodes under one engine, with helpers for their tests."""

import secrets
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any

from tests.harness.live_lab import Lab
from tests.harness.pbx.asterisk import Pbx, Secrets
from tests.harness.ports import free_port
from tests.harness.servers.engine import Engine, RequestError
from tests.harness.servers.valkey import Valkey
from tests.harness.until import until

WAITS = {"type": "gather", "data": {"timeout": 120_000}}
NODE_OPTIONS = {"pbx1": {"weight": 3}, "pbx2": {"weight": 1, "max_calls": 4}}
GRACE_S = 3
REFER_TIMEOUT_S = 6


class TwoNodes:
    """pbx1 of weight 3, pbx2 of weight 1 with at most 4 calls; 10 calls on the trunk."""

    def __init__(
        self,
        folder: Path,
        *,
        agent_qualify_s: int = 0,
        rtp_timeouts_s: tuple[int, int] = (45, 45),
        settings: Mapping[str, str] | None = None,
    ) -> None:
        self.trunk_port = free_port()
        self._token = secrets.token_hex(16)
        self.valkey = Valkey(folder / "valkey")
        trunk = f"sip:127.0.0.1:{self.trunk_port}"
        passwords = Secrets(*(secrets.token_hex(8) for _ in range(4)))
        self.nodes = [
            Pbx(
                folder / name,
                name=name,
                trunk=trunk,
                passwords=passwords,
                agent_qualify_s=agent_qualify_s,
                rtp_timeout_s=rtp_timeout_s,
                agent_refers=True,
                settings={"REFER_TIMEOUT_S": str(REFER_TIMEOUT_S), **(settings or {})},
            )
            for name, rtp_timeout_s in zip(NODE_OPTIONS, rtp_timeouts_s, strict=True)
        ]
        self.engine = self.new_engine(folder / "engine", self.nodes)

    def new_engine(self, folder: Path, nodes: list[Pbx], **settings: str) -> Engine:
        """Return an engine on the given nodes that is not started."""
        values = {
            "SWITCHROOM_NODE_GRACE_S": str(GRACE_S),
            "SWITCHROOM_REAP_S": "1",
            "SWITCHROOM_TRUNK_MAX_CALLS": "10",
            **settings,
        }
        return Engine(
            folder,
            valkey=self.valkey,
            nodes=nodes,
            settings=values,
            node_options=NODE_OPTIONS,
            token=self._token,
        )

    async def ensure_running(self) -> None:
        """Start servers that do not run, end all calls and undrain all nodes."""
        for server in (self.valkey, *self.nodes, self.engine):
            if not server.running():
                await server.start()
        await until(self._is_whole, what="both nodes, empty")

    async def stop(self) -> None:
        for server in (self.engine, *self.nodes, self.valkey):
            await server.stop()

    async def call(self, **request: object) -> str:
        """Start a call that waits for digits; returns its id."""
        return await self.engine.originate(
            **{"from": "+15550001", "to": "+15550100", "action": WAITS, **request}
        )

    async def refusal(self, **request: object) -> tuple[int, str]:
        """Request a call that must be refused; returns status and problem code."""
        try:
            call = await self.call(**request)
        except RequestError as refused:
            return refused.status, str(refused.problem["code"])
        raise AssertionError(f"not refused: {call}")

    async def wait_answered(self, call: str) -> None:
        await self.lab(0).wait_for_state(call, "gathering")

    async def node(self, name: str) -> dict[str, Any]:
        """Return the engine's view of a node."""
        found = (await self.engine.rpc("GET", "/nodes"))["nodes"]
        return dict(next(each for each in found if each["name"] == name))

    async def call_counts(self) -> dict[str, int]:
        """Return the number of live calls by node."""
        found = (await self.engine.rpc("GET", "/nodes"))["nodes"]
        return {each["name"]: each["calls"] for each in found}

    async def hang_up_all(self) -> None:
        for call in (await self.engine.rpc("GET", "/calls"))["calls"]:
            await self.engine.rpc("POST", f"/calls/{call['callId']}/hangup", {})

    def lab(self, number: int) -> Lab:
        """Return a Lab of one node and the engine."""
        return Lab(self.valkey, self.nodes[number], self.engine, self.trunk_port)

    async def _is_whole(self) -> bool:
        try:
            await self.hang_up_all()
            found = (await self.engine.rpc("GET", "/nodes"))["nodes"]
            for node in found:
                if node.get("drained"):
                    await self.engine.rpc("POST", f"/nodes/{node['name']}/undrain")
        except RequestError as refused:
            if refused.status not in {HTTPStatus.CONFLICT, HTTPStatus.SERVICE_UNAVAILABLE}:
                raise
            return False  # a call has just ended, or the engine has just started
        return all(each["connected"] and not each["calls"] for each in found)


def node_of(call: str) -> str:
    """Return the node name in a call id."""
    return call.split("-")[1]
