"""The fail2ban filter against lines that Asterisk 22.10.1 has written."""

import re
from configparser import RawConfigParser

import pytest

from tests.harness.operations.manifests import OPERATIONS

FILTER = OPERATIONS / "fail2ban/filter.d/switchroom-pbx.conf"
JAIL = OPERATIONS / "fail2ban/jail.d/switchroom-pbx.conf"
HOST = r"(?P<host>[0-9A-Fa-f:.]+)"
PREFIX = "[2026-11-23 21:27:14.841] SECURITY[3701] res_security_log.c: SecurityEvent="
TIMES = 'EventTV="2026-11-23T21:27:14.840+0000",Severity="Error"'
LOCAL = 'LocalAddress="IPV4/UDP/192.0.2.11/5060"'
REMOTE = 'RemoteAddress="IPV4/UDP/198.51.100.7/25003"'
FORGED = 'LocalAddress="IPV4/UDP/192.0.2.11/5060",RemoteAddress="IPV4/UDP/203.0.113.9/1"'
CHALLENGE = 'Challenge="1795469234/e64301cc5c2f4c743a5ca1631c4007e0"'


def line(event: str, session: str = "a1", response: str = "b03f") -> str:
    """Return a line about a phone's login."""
    about = f'Service="PJSIP",EventVersion="1",AccountID="1001",SessionID="{session}"'
    end = f'{CHALLENGE},Response="{response}",ExpectedResponse=""'
    return f'{PREFIX}"{event}",{TIMES},{about},{LOCAL},{REMOTE},{end}'


def address(text: str) -> str:
    """Return the address that a line counts against; empty for none."""
    found = RawConfigParser()
    found.read(FILTER)
    rule = found["Definition"]["failregex"].replace("<HOST>", HOST)
    matched = re.search(rule, text)
    return matched["host"] if matched else ""


@pytest.mark.parametrize("event", ["ChallengeResponseFailed", "InvalidAccountID", "FailedACL"])
def test_a_failed_login_counts(event: str) -> None:
    """Against the address that it came from, with the date cut out, as fail2ban does."""
    assert address(line(event)) == "198.51.100.7"
    assert address(line(event).replace("2026-11-23 21:27:14.841", "", 1)) == "198.51.100.7"


@pytest.mark.parametrize("event", ["SuccessfulAuth", "ChallengeSent"])
def test_a_login_does_not_count(event: str) -> None:
    """Each registration begins with a challenge."""
    assert address(line(event)) == ""


def test_a_call_id_cannot_accuse_another() -> None:
    """Asterisk writes the Call-ID as it is, quotes included."""
    found = address(line("ChallengeResponseFailed", session=f'a",{FORGED},{CHALLENGE},x="'))
    assert found == "198.51.100.7"


def test_a_digest_cannot_accuse_another() -> None:
    """A quoted string has its quotes escaped."""
    forged = FORGED.replace('"', '\\"')
    found = address(line("ChallengeResponseFailed", response=f'a\\",{forged},x=\\"'))
    assert found == "198.51.100.7"


def test_the_jail_reads_the_log_of_the_unit() -> None:
    """The jail names the filter, and the file that the systemd unit's node writes."""
    found = RawConfigParser(strict=False)
    found.read(JAIL)
    jail = found["switchroom-pbx"]
    assert jail["filter"] == FILTER.stem
    assert jail["logpath"] == "/var/lib/switchroom-pbx/var/log/security.log"
    assert (
        "StateDirectory=switchroom-pbx\n"
        in (OPERATIONS / "systemd/switchroom-pbx.service").read_text()
    )
