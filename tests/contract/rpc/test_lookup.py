"""Look-ups of requests: the node that a request names."""

import pytest

from engine.rpc.lookup import check_pbx_address
from wire.decoding.errors import BadInput


@pytest.mark.parametrize("address", ["pbx1", "localhost", "127.0.0.1"])
async def test_a_node_has_a_name_a_host_and_an_address(address: str) -> None:
    """A request may name it by each."""
    await check_pbx_address("pbx1", "localhost", address)


@pytest.mark.parametrize("host", ["localhost", "no-such-host.invalid"])
async def test_another_address_is_refused(host: str) -> None:
    """Also if the node's host has no address now."""
    with pytest.raises(BadInput) as refused:
        await check_pbx_address("pbx1", host, "192.0.2.1")
    assert (refused.value.path, refused.value.code) == ("pbxIp", "other_node")


async def test_an_unknown_host_is_not_checked() -> None:
    """A node without an engine's knowledge of it cannot be compared."""
    await check_pbx_address("pbx1", "", "192.0.2.1")
