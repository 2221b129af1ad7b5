"""Registers an agent's phone by SIP REGISTER."""

import tempfile
from pathlib import Path

from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.sip import SipCall


async def register(pbx: Pbx, agent: str, port: int, expires_s: int = 3600) -> None:
    """Register an agent's phone at a port; `expires_s=0` unregisters all its phones."""
    values = {
        "AGENT": agent,
        "PASSWORD": pbx.passwords.agents,
        "CONTACT": f"<sip:{agent}@127.0.0.1:{port}>" if expires_s else "*",
        "EXPIRES_S": expires_s,
    }
    with tempfile.TemporaryDirectory(prefix="phone") as folder:
        call = SipCall(Path(folder), "register", port, f"127.0.0.1:{pbx.sip_port}")
        try:
            await call.start(values)
            await call.wait_ended()
        finally:
            await call.close()
