"""Which nodes accept a login of a phone in a browser, and how long that is waited for."""

import asyncio
from collections.abc import Mapping

import pytest

from engine.ari.request import Reply, Request
from engine.runtime.agents.phone_credentials import CredentialStore
from engine.runtime.agents.phone_passwords import LOGIN_TIMEOUT_S, PhonePasswords
from engine.runtime.agents.phone_provisioning import PhoneProvisioning
from engine.runtime.base.interfaces import Pbx
from tests.harness.memory_store.store import MemoryStore
from tests.harness.runtime.browser_phones import PHONE, START_MS, login, phone
from tests.harness.runtime.object_pbx import ObjectPbx
from tests.harness.store.documents import put_credentials
from tests.harness.virtual_time import virtual_time


class HungPbx(ObjectPbx):
    """A PBX that takes requests and responds to none."""

    async def ask(self, request: Request) -> Reply:
        """Wait for ever."""
        await asyncio.Event().wait()
        return await super().ask(request)


class SlowPbx(ObjectPbx):
    """A PBX that takes a while for each request, once it has the phones."""

    def __init__(self, takes_s: float) -> None:
        super().__init__()
        self._takes_s = takes_s

    async def ask(self, request: Request) -> Reply:
        """Respond later to the question for logins."""
        if request.method == "GET" and request.path.endswith("/endpoint/ada"):
            await asyncio.sleep(self._takes_s)  # on virtual time
        return await super().ask(request)


async def nodes_with(nodes: Mapping[str, Pbx]) -> tuple[str, ...]:
    """Return the nodes that accept a login which those that respond have been given."""
    store = MemoryStore()
    credentials = CredentialStore(store)
    known = login(1, await store.time_ms() + 60_000)
    await put_credentials(store, PHONE, phone(known))
    for name, pbx in nodes.items():
        if not isinstance(pbx, HungPbx):
            await PhoneProvisioning(name, pbx, credentials, lambda: START_MS).provide()
    passwords = PhonePasswords(credentials, lambda: nodes)
    return await passwords.nodes_with("acme", "ada", PHONE, known.username)


async def test_all_nodes_that_respond() -> None:
    """Those that have the login are named, without a wait."""
    assert await nodes_with({"pbx2": ObjectPbx(), "pbx1": ObjectPbx()}) == ("pbx1", "pbx2")


@virtual_time
async def test_a_node_that_hangs_delays_no_login() -> None:
    """It is left out, although its requests would time out much later."""
    assert await nodes_with({"pbx1": HungPbx(), "pbx2": ObjectPbx()}) == ("pbx2",)
    assert asyncio.get_running_loop().time() < LOGIN_TIMEOUT_S


@virtual_time
async def test_a_node_that_is_slow_is_waited_for_a_moment() -> None:
    """When another one has the login, or none of them has it."""
    nodes = {"pbx1": SlowPbx(0.4), "pbx2": ObjectPbx(), "pbx3": SlowPbx(0.6)}
    assert await nodes_with(nodes) == ("pbx1", "pbx2")
    assert await nodes_with({"pbx3": SlowPbx(2.5)}) == ("pbx3",)


@virtual_time
async def test_no_node_responds() -> None:
    """The wait ends all the same."""
    assert await nodes_with({"pbx1": HungPbx()}) == ()
    assert asyncio.get_running_loop().time() == pytest.approx(LOGIN_TIMEOUT_S, abs=0.1)


async def test_no_node_is_connected() -> None:
    """There is nothing to wait for."""
    assert await nodes_with({}) == ()
