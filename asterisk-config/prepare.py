"""Generates the PBX configuration: `python3 prepare.py TARGET` writes it, and the hold music.

Each `@NAME@` in `etc/` is replaced by the environment's `PBX_NAME`, or by its default. One
script serves compose, the local PBX and operators, so it needs only Python's standard library.
"""

# ruff: noqa: INP001 - a script, not a package

import os
import re
import secrets
import sys
from collections.abc import Mapping
from pathlib import Path

from access import check_binds, is_loopback, own_address, permit_only
from agents import agent_sections
from config_value import escaped
from control_tls import control_listeners
from encryption import encryption, transport
from errors import SettingError
from further_trunks import further_trunks
from music import write_music
from node_settings import DEFAULTS
from phone_websocket import phone_networks, phone_websocket
from stir_shaken import signing
from trunk_login import trunk_login

SOURCE = Path(__file__).parent / "etc"


def main() -> None:
    """Write the configuration from the environment; exit with a message if a value is missing."""
    target = Path(sys.argv[1]).absolute()
    os.umask(0o077)  # the files contain passwords
    try:
        prepare(target, values(target, os.environ))
    except SettingError as error:
        sys.exit(str(error))
    except KeyError as missing:
        sys.exit(f"PBX_{missing.args[0]} is not set")


def values(target: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the values of all placeholders, including derived ones."""
    known = {**DEFAULTS, **from_environ(environ)}
    known |= {name: own_address(name, known[name]) for name in ("BIND", "SIP_BIND")}
    check_binds(known)
    trunk = host_of("TRUNK", known["TRUNK"])
    derived = {
        "TEMPLATE_PASSWORD": secrets.token_urlsafe(24),
        "SHARED_PASSWORD_AGENTS": agent_sections(known["AGENT_PASSWORD"]),
        "PEER_PASSWORD": secrets.token_urlsafe(24),  # unless all nodes are given the same
        "ETC_DIR": str(target / "etc"),
        "VAR_DIR": str(target / "var"),
        "RUN_DIR": str(target / "run"),
        "MODULES_DIR": modules_dir(),
        "MUSIC_DIR": str(target / "music"),
        "LAST_SLOT": str(int(known["SLOTS"]) - 1),
        "TRUNK_MATCH": trunk,
        "IDENTIFY_ORDER": identify_order(trunk, known["AGENTS_AT_TRUNK"]),
        "ENGINES_ONLY": permit_only("ENGINES", known["ENGINES"]),
        "AGENTS_ONLY": permit_only(
            "AGENT_NETS", phone_networks(known, known.get("TRUNK_MATCH", trunk))
        ),
        "EXTERNAL": external_options(known["EXTERNAL_ADDRESS"], known["LOCAL_NETS"]),
    }
    derived |= control_listeners(known)
    derived |= encryption(known)
    derived["MORE_TRUNKS"] = further_trunks(known, host_of)
    derived |= signing(known) | phone_websocket({**known, **derived})
    derived |= trunk_login(known, trunk, transport(known["TRUNK"]))
    if known["TLS_CERT"]:
        derived["TLS_TRANSPORT"] += derived["EXTERNAL"] + "\n"
    return {**derived, **{name: escaped(value) for name, value in known.items()}}


def from_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Return the PBX_ variables by their short names; an empty one counts as not set."""
    return {name[4:]: value for name, value in environ.items() if name.startswith("PBX_") and value}


def modules_dir() -> str:
    """Return the module directory of this machine's Asterisk: Debian's, or upstream's."""
    debian = Path("/usr/lib").glob("*-linux-gnu*/asterisk/modules")
    return str(next(debian, Path("/usr/lib/asterisk/modules")))


def host_of(setting: str, sip_uri: str) -> str:
    """Return the host of a SIP address, which identifies the trunk's calls."""
    found = re.match(r"sips?:(?:[^@]*@)?(\[[^\]]+\]|[^:;?@]+)[^@]*$", sip_uri)
    if found is None:
        raise SettingError(setting, "a SIP address such as sip:carrier.example is expected")
    return found[1]


def identify_order(trunk: str, agents_at_trunk: str) -> str:
    """Return what tells an endpoint first: the trunk's address, or the user name of a phone there.

    By user name first, a trunk's caller with an agent's name would be asked for its password. A
    header that is refused (`[refused]` in pjsip.conf) counts before a user name.
    """
    is_shared = agents_at_trunk == "yes" or (not agents_at_trunk and is_loopback(trunk))
    return "header,username,ip" if is_shared else "ip,header,username"


def external_options(address: str, local_nets: str) -> str:
    """Return the transport's options behind NAT: which address peers outside local networks see."""
    if not address:
        return ""
    nets = (f"local_net = {each.strip()}" for each in local_nets.split(",") if each.strip())
    external = (f"external_{each}_address = {address}" for each in ("signaling", "media"))
    return "\n".join((*external, *nets))


def prepare(target: Path, known: Mapping[str, str]) -> None:
    """Write the files and the directories that Asterisk writes to; safe to repeat."""
    spools = ("var/spool/recording", "var/spool/monitor")
    for folder in ("etc", "var/log", "var/cache", "var/keys", *spools, "music", known["RUN_DIR"]):
        (target / folder).mkdir(parents=True, exist_ok=True)
    for template in SOURCE.glob("*.conf"):
        text = re.sub(r"@([A-Z_]+)@", lambda found: known[found[1]], template.read_text())
        written = target / "etc" / template.name
        written.write_text(text)
        written.chmod(0o600)  # also if it is an old one
    write_music(target / "music" / "loop.wav")


if __name__ == "__main__":
    main()
