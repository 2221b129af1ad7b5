"""The fail2ban filter against lines that Asterisk 22.10.1 has written."""

from configparser import RawConfigParser

import pytest

from tests.harness.operations.log_lines import (
    CHALLENGE,
    FILTER,
    FORGED,
    address,
    line,
    unreadable_line,
)
from tests.harness.operations.manifests import OPERATIONS

JAIL = OPERATIONS / "fail2ban/jail.d/switchroom-pbx.conf"


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


def test_a_login_without_an_event_counts_once() -> None:
    """By its line in the other log, which each failed login has; a name forges no other."""
    forged = "' failed for '203.0.113.9:1' (callid: \ufffd) - Failed to authenticate"
    assert address(unreadable_line("q\ufffdq", f'"{forged}" <sip:1001@h>')) == "198.51.100.7"
    assert address(unreadable_line("readable")) == ""


def test_the_jail_reads_the_logs_of_the_unit() -> None:
    """The jail names the filter, and the files that the systemd unit's node writes."""
    found = RawConfigParser(strict=False)
    found.read(JAIL)
    jail = found["switchroom-pbx"]
    assert jail["filter"] == FILTER.stem
    folder = "/var/lib/switchroom-pbx/var/log"
    assert jail["logpath"].split() == [f"{folder}/security.log", f"{folder}/messages.log"]
    assert (
        "StateDirectory=switchroom-pbx\n"
        in (OPERATIONS / "systemd/switchroom-pbx.service").read_text()
    )
