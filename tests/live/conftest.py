"""Fixtures of the live tests: shared servers, customer servers, and the parties of calls."""

import gc
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from xdist.remote import Producer

from tests.harness.customers.media_server import MediaServer
from tests.harness.customers.webhook_server import WebhookServer
from tests.harness.gate.scheduling import ServersScheduling
from tests.harness.live_lab import Lab, open_lab
from tests.harness.pbx.two_nodes import TwoNodes
from tests.harness.phones.answerer import answering_all
from tests.harness.phones.parties import Parties

HERE = Path(__file__).parent
LONG = [HERE / each for each in ("cluster", "recovery", "docs", "samples", "dev")]  # own servers
TWO_NODES = "two nodes"
SERVERS = {  # of the tests whose ids start so; the others have those of all workers, or their own
    "tests/live/cluster/test_agent_phone_endings.py": TWO_NODES,
    "tests/live/cluster/test_agents_on_any_node.py": TWO_NODES,
    "tests/live/cluster/test_softphones.py::test_a_softphone_is_reached": TWO_NODES,
    "tests/live/cluster/test_transfers_at_another_node.py": TWO_NODES,
    "tests/live/cluster/test_two_nodes.py": TWO_NODES,
    "tests/live/cluster/test_two_of_everything.py": TWO_NODES,
    "tests/live/sessions/test_refer.py::test_a_refer_from_the_trunk": TWO_NODES,
    **{
        f"tests/live/{each}": each
        for each in (
            *("cluster/test_browser_phones.py", "cluster/test_tls_stack.py"),
            *("console/", "console/account/test_templates.py", "console/phone/test_codecs.py"),
            *("console/phone/test_encrypted_websocket.py", "console/phone/test_losses.py"),
            *("pbx/browsers/", "pbx/test_access.py", "pbx/test_agent_passwords.py"),
            *("pbx/test_agent_passwords_over_rest.py", "pbx/test_control_tls.py"),
            *("pbx/test_encryption.py", "pbx/test_hostile_calls.py", "pbx/test_media.py"),
            *("pbx/test_pbx.py", "pbx/test_phone_websocket.py"),
            *("reporting/test_rest.py", "reporting/test_rest_resources.py"),
            *("speech/", "streams/"),
        )
    },
}


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Producer) -> ServersScheduling | None:
    """Keep the tests of the same servers together; with another `--dist`, xdist decides."""
    is_grouped = config.getoption("dist") == "loadgroup"
    return ServersScheduling(config, log, SERVERS) if is_grouped else None


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with long tests; in a ring they follow those of special servers."""
    items.sort(key=lambda item: not any(folder in item.path.parents for folder in LONG))


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Exclude imported and collected objects from garbage collection.

    They are half a million, and scanning them would block the loop of the phones for over a second.
    """
    gc.freeze()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Lab]:
    """Start the servers once; `lab` restarts stopped ones between tests."""
    # Phones of these tests are reached over the trunk, and some send REFER.
    async with open_lab(
        tmp_path_factory.mktemp("lab"), trunk_refers=True, agent_refers=True
    ) as lab:
        yield lab


@pytest.fixture
async def lab(servers: Lab) -> AsyncIterator[Lab]:
    """Return the running servers; no channel and no bridge may be left afterwards."""
    async with servers.in_use() as lab:
        yield lab


@pytest.fixture
async def hooks() -> AsyncIterator[WebhookServer]:
    async with WebhookServer() as server:
        yield server


@pytest.fixture
async def sounds() -> AsyncIterator[MediaServer]:
    async with MediaServer() as server:
        yield server


@pytest.fixture
async def parties(lab: Lab) -> AsyncIterator[Parties]:
    """Return an empty `Parties`; its call is hung up afterwards."""
    async with Parties(lab) as parties:
        yield parties
        await lab.ensure_running()
        await parties.hang_up()


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def two_servers(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TwoNodes]:
    two = TwoNodes(tmp_path_factory.mktemp("two"))
    try:
        await two.ensure_running()
        yield two
    finally:
        await two.stop()


@pytest.fixture
async def two(two_servers: TwoNodes, tmp_path: Path) -> AsyncIterator[TwoNodes]:
    """Return two empty nodes and a trunk that answers all calls."""
    await two_servers.ensure_running()
    async with answering_all(tmp_path, two_servers.trunk_port):
        yield two_servers
        await two_servers.ensure_running()
