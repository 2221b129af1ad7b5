"""A PBX node of tests, on free ports and with random passwords.

    async with Pbx(tmp_path / "pbx1", trunk="sip:127.0.0.1:15080") as pbx:
        pbx.url, pbx.ari_user, pbx.ari_password      # ARI: http://127.0.0.1:<port>, without /ari
        pbx.sip_port                                 # INVITE here: a call from the trunk
        await pbx.cli("core show channels")
        await pbx.kill()                             # a crash; then start(): same ports, same files

The node is ready when it has fully booted; until then ARI answers 503.
"""

import secrets
from collections.abc import Mapping
from pathlib import Path

from dev.pbx.asterisk import PREPARE, AsteriskNode
from dev.pbx.node import NodeSettings, Ports, Secrets
from tests.harness.ports import free_ports

__all__ = ["PREPARE", "SHORT_RTP_TIMEOUT_S", "Pbx", "Ports", "Secrets"]

SHORT_RTP_TIMEOUT_S = 5  # longer than a busy machine keeps a phone from sending


class Pbx(AsteriskNode):
    """One Asterisk node; `log` is its standard output, `messages` its log file."""

    def __init__(  # noqa: PLR0913 - a test names only what it varies
        self,
        folder: Path,
        *,
        name: str = "pbx1",
        trunk: str = "sip:127.0.0.1:5080",
        ports: Ports | None = None,
        passwords: Secrets | None = None,
        slots: int = 8,
        rtp_timeout_s: int = 45,
        qualify_s: int = 0,
        agent_qualify_s: int = 0,
        trunk_refers: bool = False,
        agent_refers: bool = False,
        bound: bool = True,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        more = {
            "TRUNK_QUALIFY_S": qualify_s,
            "AGENT_QUALIFY_S": agent_qualify_s,  # 0: phones of SIPp answer no OPTIONS
            "TRUNK_REFER": "yes" if trunk_refers else "no",
            "AGENT_REFER": "yes" if agent_refers else "no",
            "SLOTS": slots,
            "RTP_TIMEOUT_S": rtp_timeout_s,
            **(settings or {}),  # of prepare.py
        }
        drawn = Secrets(*(secrets.token_hex(8) for _ in range(3)))
        node = NodeSettings(
            name, ports or Ports(*free_ports(3)), passwords or drawn, trunk, more=more
        )
        super().__init__(folder, node, bound=bound)
