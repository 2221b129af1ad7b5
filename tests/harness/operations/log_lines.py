"""Lines of Asterisk's log about failed logins."""

import re
from configparser import RawConfigParser

from tests.harness.operations.manifests import OPERATIONS

FILTER = OPERATIONS / "fail2ban/filter.d/switchroom-pbx.conf"

HOST = r"(?P<host>[0-9A-Fa-f:.]+)"

PREFIX = "[2026-11-23 21:27:14.841] SECURITY[3701] res_security_log.c: SecurityEvent="

TIMES = 'EventTV="2026-11-23T21:27:14.840+0000",Severity="Error"'

LOCAL = 'LocalAddress="IPV4/UDP/192.0.2.11/5060"'

REMOTE = 'RemoteAddress="IPV4/UDP/198.51.100.7/25003"'

FORGED = 'LocalAddress="IPV4/UDP/192.0.2.11/5060",RemoteAddress="IPV4/UDP/203.0.113.9/1"'

CHALLENGE = 'Challenge="1795469234/e64301cc5c2f4c743a5ca1631c4007e0"'


def unreadable_line(call_id: str, sender: str = "<sip:1001@192.0.2.11>") -> str:
    """Return the line about a login whose Call-ID is not valid UTF-8, as fail2ban reads it."""
    source = "NOTICE[3701] res_pjsip/pjsip_distributor.c"
    end = f"failed for '198.51.100.7:25003' (callid: {call_id}) - Failed to authenticate"
    return f"[2026-11-23 21:27:14.841] {source}: Request 'REGISTER' from '{sender}' {end}"


def line(event: str, session: str = "a1", response: str = "b03f") -> str:
    """Return a line about a phone's login."""
    about = f'Service="PJSIP",EventVersion="1",AccountID="1001",SessionID="{session}"'
    end = f'{CHALLENGE},Response="{response}",ExpectedResponse=""'
    return f'{PREFIX}"{event}",{TIMES},{about},{LOCAL},{REMOTE},{end}'


def address(text: str) -> str:
    """Return the address that a line counts against; empty for none."""
    found = RawConfigParser()
    found.read(FILTER)
    rules = found["Definition"]["failregex"].replace("<HOST>", HOST).splitlines()
    matched = next(filter(None, (re.search(rule, text) for rule in rules)), None)
    return matched["host"] if matched else ""
