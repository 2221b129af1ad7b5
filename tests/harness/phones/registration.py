"""An agent's phone says where it is, as SIP's REGISTER does."""

import tempfile
from pathlib import Path

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.sip import SipCall


async def register(pbx: Pbx, agent: str, port: int, expires_s: int = 3600) -> None:
    """Say that an agent's phone is at a port, for so long; 0 takes that back."""
    values = {"AGENT": agent, "PASSWORD": pbx.passwords.agents, "EXPIRES_S": expires_s}
    with tempfile.TemporaryDirectory(prefix="phone") as folder:
        asking = SipCall(Path(folder), "register", port, f"127.0.0.1:{pbx.sip_port}")
        try:
            await asking.start(values)
            await asking.wait_ended()
        finally:
            await asking.close()
