"""A node's addresses, given as networks: each machine takes its own."""

import pytest

from tests.harness.operations.pbx_script import node_values


@pytest.mark.parametrize("name", ["BIND", "SIP_BIND"])
def test_an_address_in_a_network(name: str) -> None:
    """All nodes may have the same setting."""
    assert node_values({f"PBX_{name}": "127.0.0.0/8"})[name] == "127.0.0.1"
    assert node_values({f"PBX_{name}": "::1/128"})[name] == "::1"


def test_another_network() -> None:
    """A machine without an address there is told so."""
    with pytest.raises(Exception, match=r"^PBX_BIND: .* no address in 203\.0\.113\.0/24"):
        node_values({"PBX_BIND": "203.0.113.0/24"})
