"""The firewall of a PBX host, in a kernel's network of its own."""

import subprocess
from pathlib import Path

import pytest

from dev.setup.debian import ensure_packages

RULES = Path(__file__).parents[3] / "docs/operations/firewall.nft"
INNER = (
    *("tcp dport 5038", "tcp dport 8088"),
    *("tcp dport 8070", "tcp dport 8095", "tcp dport 8096"),
    *("udp dport 5060", "tcp dport 5060"),
)
OWN_NETWORK = ("unshare", "--map-root-user", "--net", "--")


@pytest.fixture(autouse=True)
def nftables() -> None:
    """Install it; a kernel or a container may have none."""
    ensure_packages("nftables")
    if run("nft list tables").returncode != 0:
        pytest.skip("no nftables in this kernel, or no right to use it")


def in_own_network(script: str) -> str:
    """Run a script where no rule concerns this machine; returns its output."""
    done = run(script)
    assert done.returncode == 0, done.stderr
    return done.stdout


def run(script: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a network of its own, with the path of the rules as `$0`."""
    argv = (*OWN_NETWORK, "sh", "-ec", f"PATH=$PATH:/usr/sbin; {script}", str(RULES))
    return subprocess.run(argv, check=False, capture_output=True, text=True)


def test_it_is_valid() -> None:
    """It can be loaded, and again after a change."""
    loaded = in_own_network('nft --check -f "$0"; nft -f "$0"; nft -f "$0"; nft list ruleset')
    assert loaded.count("table inet switchroom") == 1


def test_inner_ports_are_for_named_addresses_only() -> None:
    """ARI, AMI, RPC and SIP without TLS are dropped for all others; SIP over TLS is open."""
    rules = in_own_network('nft -f "$0"; nft list chain inet switchroom input').splitlines()
    dropped = [each.strip() for each in rules if each.endswith(" drop") and "limit" not in each]
    assert dropped == [f"{ports} drop" for ports in INNER]
