"""Who may reach ARI and AMI: the addresses they are bound to, and the networks they permit."""

# ruff: noqa: INP001 - beside a script, not a package

import ipaddress
import socket
from collections.abc import Iterator, Mapping

from errors import SettingError


def permit_only(setting: str, networks: str) -> str:
    """Return the options that permit only these networks, separated by commas."""
    permitted = ",".join(map(str, _networks(setting, networks)))
    return f"deny = 0.0.0.0/0,::/0\npermit = {permitted}"


def own_address(setting: str, text: str) -> str:
    """Return an address as it is; for a network, the address that this machine has in it."""
    if "/" not in text:
        return text
    (network,) = _networks(setting, text)
    family = socket.AF_INET if network.version == 4 else socket.AF_INET6  # noqa: PLR2004 - IPv4
    first = network[min(1, network.num_addresses - 1)]
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.connect((str(first), 9))  # which sends nothing
            found = str(probe.getsockname()[0])
    except OSError:
        found = ""
    if not found or ipaddress.ip_address(found) not in network:
        raise SettingError(setting, f"this machine has no address in {network}")
    return found


def check_binds(known: Mapping[str, str]) -> None:
    """Refuse ARI and AMI at an address at which strangers reach SIP, unless a setting allows it."""
    bind = _address(known["BIND"])
    is_shared = bind.is_unspecified or known["BIND"] == known["SIP_BIND"]
    if is_shared and not bind.is_loopback and known["SHARED_BIND"] != "yes":
        text = (
            f"{bind} is also SIP's address (PBX_SIP_BIND): bind ARI and AMI to a private one,"
            " or set PBX_SHARED_BIND=yes if a firewall keeps strangers from their ports"
        )
        raise SettingError("BIND", text)


def check_apart(setting: str, networks: str, trunks: str) -> None:
    """Refuse networks in which a trunk has its address; names of trunks are not resolved."""
    own = list(_networks(setting, networks))
    for each in filter(None, map(str.strip, trunks.split(","))):
        try:
            found = ipaddress.ip_network(_without_port(each), strict=False)
        except ValueError:
            continue
        if any(found.version == one.version and found.overlaps(one) for one in own):
            raise SettingError(setting, f"{each} is also a trunk's (PBX_TRUNK_MATCH)")


def _without_port(text: str) -> str:
    """Return what the trunk is matched by: Asterisk takes `192.0.2.1:5080` and `[2001:db8::1]`."""
    if text.startswith("["):
        return text[1:].partition("]")[0]
    address, _, mask = text.partition("/")
    return text if address.count(":") != 1 else address.partition(":")[0] + (mask and f"/{mask}")


def is_loopback(host: str) -> bool:
    """Return whether a host is this machine, as in development."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address:
    try:
        return ipaddress.ip_address(text)
    except ValueError:
        raise SettingError("BIND", f"not an IP address: {text}") from None


def _networks(setting: str, text: str) -> Iterator[ipaddress.IPv4Network | ipaddress.IPv6Network]:
    for each in filter(None, map(str.strip, text.split(","))):
        try:
            yield ipaddress.ip_network(each, strict=False)
        except ValueError:
            raise SettingError(setting, f"not an address or a network: {each}") from None
