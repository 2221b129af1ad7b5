"""An engine's RPC over real HTTP, with the memory store and a recording PBX."""

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
from msgspec.structs import replace

from base.tasks import cancel_all
from engine.callbacks.account_settings import AccountSettings
from engine.callbacks.callback_tester import CallbackTester
from engine.callbacks.settings_changes import AccountSecrets
from engine.callbacks.transports.http import HttpTransport
from engine.calls.model.events import LegAnswered, LegCreated, LegEnded, LegRinging
from engine.media.clip import MediaLimits
from engine.media.open import open_clip_cache
from engine.observe.telemetry import Telemetry
from engine.recordings import Archive, open_archive
from engine.rpc.access import RpcAccess
from engine.rpc.handlers.cluster.doctor import DoctorRuns
from engine.rpc.handlers.cluster.report import ClusterPlace
from engine.rpc.peers.client import ShardDirectory
from engine.rpc.server import ServerDependencies, serving
from engine.runtime.admission.config import AdmissionConfig
from engine.runtime.agents.agent_presence import AgentPresence
from engine.runtime.agents.directory import AgentTemplate, Directory
from engine.runtime.base.clock import LoopClock
from engine.runtime.base.context import EngineContext
from engine.runtime.call_service import CallService
from engine.runtime.cluster.shard_map import ShardMap
from engine.runtime.io.attempt_writer import AttemptWriter
from engine.runtime.io.webhook_resend import WebhookResend
from engine.runtime.pbx.endpoint_templates import EndpointTemplates
from engine.runtime.pbx_nodes.node import Node
from engine.runtime.policy.dial_policy import DialPolicy
from engine.runtime.policy.leg_limits import LegLimits
from engine.runtime.policy.log_quota import LogQuota
from engine.runtime.shard.context import ShardContext
from engine.runtime.shard.shard import CallShard
from engine.store.writer import Writer
from tests.harness.documents import DocumentPush
from tests.harness.ports import free_port
from tests.harness.rpc.other_engines import SINGLE_ENGINE, OtherEngines
from tests.harness.runtime.recording_pbx import RecordingPbx
from tests.harness.runtime.shard_scene import ManualIoRunner, ManualStreamRunner
from tests.harness.store.stores import claim_shard
from tests.harness.store.unreliable_memory import UnreliableStore
from wire.callbacks.targets import HttpsTarget
from wire.cluster import DoctorFinding
from wire.dial_policy import AccountDialPolicy
from wire.shard import ShardId
from wire.tree import Limits

TOKEN = "token-of-the-scene"  # noqa: S105 - of this test's own server
SLOTS = 2
TRUNK = "PJSIP/{number}@trunk"
CALL = {"account": "acme", "from": "+4799999999", "to": "+4711111111"}
SAY = {"type": "say", "data": {"text": "hello"}}


class RpcScene:
    """An engine's RPC with a recording PBX behind it."""

    def __init__(
        self,
        store: UnreliableStore | None = None,
        telemetry: Telemetry | None = None,
        pbx: RecordingPbx | None = None,
    ) -> None:
        self.telemetry = telemetry or Telemetry()
        self.store = store or UnreliableStore()
        self.pbx = pbx or RecordingPbx()
        self.streams = ManualStreamRunner()
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.access: RpcAccess | None = None  # else the token, without TLS
        self.cluster = OtherEngines()
        self.place = ClusterPlace()
        self.findings: list[DoctorFinding] = []  # of the doctor's checks
        self.clock: LoopClock
        self.session: aiohttp.ClientSession
        self.attempts: AttemptWriter
        self.service: CallService
        self.agent_presence: AgentPresence
        self.documents = DocumentPush(self.answer)
        self.archive: Archive
        self.dependencies: ServerDependencies

    async def open(
        self,
        stack: AsyncExitStack,
        folder: Path,
        slots: Iterable[int] = range(SLOTS),
        owners: ShardDirectory = SINGLE_ENGINE,
    ) -> None:
        """Start everything."""
        clock = self.clock = LoopClock(asyncio.get_running_loop())
        shards = ShardMap(SLOTS, ["pbx1"])
        settings = AdmissionConfig(
            shards, 3_600_000, "+4700000000", max_calls=10_000, max_calls_per_s=10_000
        )
        directory = Directory(
            self.store, clock.now_ms, AgentTemplate("PJSIP/{agent_id}", "acme"), (TRUNK,)
        )
        meter = self.telemetry.metrics
        self.accounts = AccountSettings(
            self.store.callback_queue, clock.now_ms, AccountSecrets(b"key")
        )
        context = EngineContext(self.store, clock, meter)
        if self.telemetry.traces is not None:
            context = replace(context, link_call=self.telemetry.traces.link_call)
        self.service = CallService(
            context, settings, directory, self.cluster, self.accounts.auto_set
        )
        selection = self.service.node_selection
        self.logs = LogQuota(self.cluster, 8_000_000, 86_400_000)
        self.terms = DialPolicy(
            self.store.dial_policies,
            clock.now_ms,
            "+4700000000",
            default=AccountDialPolicy(),
            limits=LegLimits(
                clock,
                selection.legs,
                self.cluster,
                selection.trunk,
                lambda account: self.store.used_ms(account, shards.all),
            ),
            logs=self.logs,
        )
        self.agent_presence = AgentPresence(directory, self.service.calls)
        node = Node(
            "pbx1", self.pbx, clock, self.service.handle_incoming, self.agent_presence.party_of
        )
        for slot in slots:
            shard = ShardId("pbx1", slot)
            token = await claim_shard(self.store, shard, "me")
            writer = Writer(self.store, shard, token, lambda: 0.0, metrics=meter)
            task = asyncio.create_task(writer.run())
            stack.push_async_callback(cancel_all, [task])
            plan = EndpointTemplates(
                f"switchroom-{slot}", TRUNK, "PJSIP/{agent_id}", "x", policy=self.terms
            )
            place = ShardContext(
                "pbx1",
                slot,
                self.pbx,
                plan,
                metrics=meter,
                legs=selection.legs,
                streams=self.streams,
            )
            node.add_shard(slot, CallShard(place, clock, writer, ManualIoRunner(), node))
            node.shards[slot].resume()
        self.service.nodes["pbx1"] = node
        stack.push_async_callback(node.close)
        self.session = await stack.enter_async_context(aiohttp.ClientSession())
        self.attempts = AttemptWriter(self.store.webhook_log, meter.webhook_log)
        library = await stack.enter_async_context(
            open_clip_cache(folder, lambda _account: self.session, [], clock.now_ms, MediaLimits())
        )
        self.archive = open_archive(f"file://{folder}/archive", {})
        self.dependencies = ServerDependencies(
            self.service,
            self.store,
            library,
            Limits(),
            shards,
            self.agent_presence,
            owners,
            self.accounts,
            self.terms,
            CallbackTester(
                self.accounts,
                {HttpsTarget: HttpTransport(lambda _: self.session)},
                time.time,
                lambda: "1",
            ),
            WebhookResend(
                self.store,
                self.attempts,
                lambda _account: self.session,
                {HttpsTarget: HttpTransport(lambda _: self.session, log=self.attempts)},
                self.accounts.webhook_signer,
                Limits(allow_insecure=True),
            ),
            self.telemetry,
            archive=self.archive,
            cluster=self.place,
            doctor=DoctorRuns(self._checked),
        )
        access = self.access or RpcAccess(self.url, TOKEN)
        await stack.enter_async_context(serving(self.dependencies, access, "127.0.0.1", self.port))

    async def _checked(self) -> list[DoctorFinding]:
        return self.findings

    async def request(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> tuple[int, Any]:
        """Send a request; bytes are sent unchanged, anything else as JSON."""
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {TOKEN}", **more.pop("headers", {})}
        url = f"{self.url}/rpc/v1{path}"
        async with self.session.request(method, url, data=data, headers=headers, **more) as got:
            return got.status, await got.json(content_type=None)

    async def answer(self, method: str, path: str, body: object = None) -> Any:
        """Send a request that must succeed; return what it answers."""
        status, answer = await self.request(method, path, body)
        assert status == 200, answer
        return answer

    async def start_call(self, **more: Any) -> str:
        """Start a call; return its id."""
        status, answer = await self.request("POST", "/calls", {**CALL, **more})
        assert status == 201, answer
        return str(answer["callId"])

    async def problem(
        self, method: str, path: str, body: object = None, **more: Any
    ) -> tuple[int, str]:
        """Send a request that must fail; return status and code of a well-formed problem."""
        status, answer = await self.request(method, path, body, **more)
        assert answer["status"] == status
        assert {"title", "code"} <= answer.keys() <= {
            "type", "title", "status", "code", "detail", "errors",
        }  # fmt: skip
        return status, str(answer["code"])


@asynccontextmanager
async def running(folder: Path, telemetry: Telemetry | None = None) -> AsyncIterator[RpcScene]:
    """Run a scene, with the telemetry of the test if it has some."""
    async with AsyncExitStack() as stack:
        scene = RpcScene(telemetry=telemetry)
        await scene.open(stack, folder)
        yield scene


async def raw(scene: RpcScene, head: bytes, body: bytes = b"") -> bytes:
    """Send raw bytes; return the bytes of the response."""
    reader, writer = await asyncio.open_connection("127.0.0.1", scene.port)
    writer.write(head + b"Host: x\r\nConnection: close\r\n\r\n" + body)
    await writer.drain()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


def created(scene: RpcScene) -> list[str]:
    """Return the ids of the legs that the PBX had to create."""
    return [dict(each.request.query)["channelId"] for each in scene.pbx.sent]


def inject(scene: RpcScene, event: LegCreated | LegRinging | LegAnswered | LegEnded) -> None:
    """Send an event of a leg to its call."""
    found = scene.service.find(event.leg.rpartition(".")[0])
    assert found is not None
    found[0].feed(found[1], event)


def end(scene: RpcScene, call_id: str) -> None:
    """End a call's main leg."""
    inject(scene, LegEnded(f"{call_id}.l0", 16))


async def is_stored_as(scene: RpcScene, call_id: str, status: str) -> bool:
    """Return whether a call is stored with a status."""
    call = await scene.service.read(call_id)
    return call is not None and call.status == status
