"""A Switchroom engine as a process.

async with Engine(tmp_path / "engine", valkey=valkey, nodes=[pbx]) as engine:
    call = await engine.rpc("POST", "/calls", {"account": "acme", …})
"""

import asyncio
import json
import secrets
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self

import aiohttp

from dev.servers.server import Server, Trust, is_well
from tests.harness.documents import DocumentPush
from tests.harness.evidence.collector import collect_engine
from tests.harness.evidence.timelines import keep_timelines
from tests.harness.pbx.asterisk import Pbx
from tests.harness.ports import free_port
from tests.harness.servers.tcp_proxy import TcpProxy
from tests.harness.servers.valkey import Valkey
from tests.harness.until import MAX_WAIT_S


class RequestError(Exception):
    """The RPC or the REST layer refused a request; has the status and the problem."""

    def __init__(self, status: int, problem: dict[str, Any]) -> None:
        super().__init__(f"{status}: {problem}")
        self.status = status
        self.problem = problem


class Engine(Server):
    """One engine on a free port, which may fetch media from and send webhooks to loopback."""

    trust: Trust = True

    def __init__(  # noqa: PLR0913 - a test names only what it varies
        self,
        folder: Path,
        *,
        valkey: Valkey,
        nodes: Sequence[Pbx],
        settings: Mapping[str, str] | None = None,
        node_options: Mapping[str, Mapping[str, object]] | None = None,
        token: str = "",
        proxies: Sequence[TcpProxy] = (),
    ) -> None:
        super().__init__(folder)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.token = token or secrets.token_hex(16)  # engines of one store share it
        self._valkey = valkey
        self._nodes = nodes
        self._settings = settings or {}
        self._node_options = node_options or {}  # weight and limits by node
        self.documents = DocumentPush(self.rpc)
        self._proxies = {proxy.target_port: proxy.port for proxy in proxies}

    def command(self) -> Sequence[str]:
        return (sys.executable, "-m", "switchroom", "engine")

    def environment(self) -> Mapping[str, str]:
        return {
            "SWITCHROOM_REDIS_URL": f"redis://127.0.0.1:{self._proxied(self._valkey.port)}/0",
            "SWITCHROOM_NODES": json.dumps([self._node(pbx) for pbx in self._nodes]),
            "SWITCHROOM_RPC_PORT": str(self.port),
            "SWITCHROOM_RPC_TOKEN": self.token,
            "SWITCHROOM_MEDIA_DIR": str(self.folder / "media"),
            "SWITCHROOM_RECORDINGS_URL": f"file://{self.recordings}",
            "SWITCHROOM_RECORDINGS_S": "1",
            "SWITCHROOM_MEDIA_ALLOW": '["127.0.0.0/8"]',
            "SWITCHROOM_WEBHOOK_ALLOW": '["127.0.0.0/8"]',
            "SWITCHROOM_SIP_HOSTS": '["127.0.0.1"]',
            "SWITCHROOM_ALLOW_INSECURE_WEBHOOKS": "true",
            "SWITCHROOM_AGENT_ACCOUNT": "acme",
            "SWITCHROOM_DEFAULT_ALLOW": '["any"]',
            "SWITCHROOM_TRUNK_REFER": "true",  # for a PBX that passes them on
            **self._settings,
        }

    async def start(self) -> Self:
        """Start it, and report it: a test that fails shows the timelines of its calls."""
        await super().start()
        collect_engine(self)
        return self

    async def stop(self) -> None:
        await keep_timelines(self)
        await super().stop()

    async def is_ready(self) -> bool:
        """Return whether /readyz answers 200."""
        return await is_well(self.url + "/readyz", self.trust)

    @property
    def recordings(self) -> Path:
        """Return the folder where recordings are archived."""
        return self.folder / "recordings"

    async def rpc(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        """Send an RPC request and return its JSON; raises RequestError."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with (
            aiohttp.ClientSession(headers=headers) as session,
            session.request(method, f"{self.url}/rpc/v1{path}", json=body, ssl=self.trust) as reply,
        ):
            answer: dict[str, Any] = await reply.json(content_type=None)
            if reply.status >= 400:
                raise RequestError(reply.status, answer)
            return answer

    async def wait_for_event(
        self, call_id: str, event: str, timeout_s: float = MAX_WAIT_S
    ) -> dict[str, Any]:
        """Return an event of a call, waiting for it if it has not been published yet."""
        headers = {
            "Authorization": f"Bearer {self.token}",
            "Last-Event-ID": "[0,{}]",  # from the beginning
        }
        address = f"{self.url}/rpc/v1/events?callId={call_id}"
        async with (
            asyncio.timeout(timeout_s),
            aiohttp.ClientSession(headers=headers) as session,
            session.get(address) as reply,
        ):
            async for line in reply.content:
                found = json.loads(line[6:]) if line.startswith(b"data: ") else {}
                if found.get("event") == event:
                    return dict(found)
        raise TimeoutError(f"no event {event} of {call_id}")

    async def originate(self, **request: object) -> str:
        """Start a call; returns its id."""
        started = await self.rpc("POST", "/calls", {"account": "acme", **request})
        return str(started["callId"])

    async def call(self, call_id: str) -> dict[str, Any]:
        """Return the view of a call."""
        return await self.rpc("GET", f"/calls/{call_id}")

    def _node(self, pbx: Pbx) -> dict[str, object]:
        return {
            "name": pbx.name,
            "url": f"http://127.0.0.1:{self._proxied(pbx.ports.ari)}",
            "user": pbx.ari_user,
            "password": pbx.ari_password,
            "media_url": self.url,
            "ami_password": pbx.passwords.ami,
            "ami_port": pbx.ami_port,
            "sip_port": pbx.sip_port,
            **self._node_options.get(pbx.name, {}),
        }

    def _proxied(self, port: int) -> int:
        return self._proxies.get(port, port)
