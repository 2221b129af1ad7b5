"""One Asterisk with all that can serve the standard call: the engine, and the anchors beside it.

Only the one that is measured is connected: an engine reads AMI, and so costs Asterisk time in the
calls of the others, too.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager

from msgspec import Struct

from dev.servers.server import Server
from tests.harness.customers.callback_server import CallbackServer
from tests.harness.servers.api import ACCOUNT, Api
from tools.bench.ivr.bare_process import BareProcess
from tools.bench.ivr.stack import Stack, stack
from tools.bench.ivr.variants import Variant
from tools.bench.setting import Setting


class Records(Struct, frozen=True):
    """What users run beside an engine: a REST layer, which reads records, and a callback target."""

    api: Api
    customer: CallbackServer


class Anchored(Struct, frozen=True):
    """The servers of all variants, and optionally what users run beside an engine."""

    base: Stack
    bare: BareProcess
    records: Records | None = None

    @property
    def sip_port(self) -> int:
        """Return the SIP port of the PBX."""
        return self.base.pbx.sip_port

    @property
    def pids(self) -> Mapping[str, int]:
        """Return the running processes whose CPU is measured."""
        servers: dict[str, Server] = {
            "asterisk": self.base.pbx,
            "bare": self.bare,
            "engine": self.base.engine,
            "valkey": self.base.valkey,
        }
        if self.records is not None:
            servers["rest"] = self.records.api
        return {name: each.pid for name, each in servers.items() if each.running()}

    async def select(self, variant: Variant) -> None:
        """Connect this variant, and disconnect the others."""
        for name, server in (("bare", self.bare), ("engine", self.base.engine)):
            if name == variant.application and not server.running():
                await server.start()
            elif name != variant.application:
                await server.stop()


@asynccontextmanager
async def anchored(setting: Setting, *, with_records: bool) -> AsyncIterator[Anchored]:
    """Run the servers; `with_records`: also a REST layer and a callback target of the account."""
    async with AsyncExitStack() as opened:
        base = await opened.enter_async_context(stack(setting.folder))
        bare = BareProcess(setting.folder / "bare", pbx=base.pbx, prompts=base.pbx.prompts)
        await opened.enter_async_context(bare)
        records = await _open_records(setting, base, opened) if with_records else None
        yield Anchored(base, bare, records)


async def _open_records(setting: Setting, base: Stack, opened: AsyncExitStack) -> Records:
    api = Api(setting.folder / "api", engines=[base.engine])
    customer = await opened.enter_async_context(CallbackServer())
    await opened.enter_async_context(api)
    target = {"target": customer.url("/")}
    await api.request("PUT", "/srmain/voice/callbacks", target, token=api.api_key)
    await base.route(ACCOUNT)
    return Records(api, customer)
