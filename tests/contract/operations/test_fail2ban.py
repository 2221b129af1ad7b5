"""The shipped filter and jail in the real fail2ban."""

from pathlib import Path

import pytest

from tests.harness.fail2ban import Fail2ban
from tests.harness.operations.log_lines import CHALLENGE, FORGED, line, unreadable_line

GUESSER = "198.51.100.7"


@pytest.fixture
def log(tmp_path: Path) -> Path:
    """Give a place for the log."""
    return tmp_path / "security.log"


@pytest.fixture
def fail2ban(tmp_path: Path) -> Fail2ban:
    return Fail2ban(tmp_path)


@pytest.mark.parametrize(
    "failed",
    [
        line("ChallengeResponseFailed"),
        line("InvalidAccountID"),
        line("FailedACL"),
        line("ChallengeResponseFailed", session=f'a",{FORGED},{CHALLENGE},x="'),
        unreadable_line("q\udcf8q"),
        line("ChallengeResponseFailed", response='a\\",' + FORGED.replace('"', '\\"') + ',x=\\"'),
    ],
)
def test_a_failed_login_counts(fail2ban: Fail2ban, log: Path, failed: str) -> None:
    """Against the address that it came from, whatever the caller has written into it."""
    text = f"{line('ChallengeSent')}\n{failed}\n"
    log.write_bytes(text.encode(errors="surrogateescape"))
    assert fail2ban.accused(log) == {GUESSER}


def test_a_login_does_not_count(fail2ban: Fail2ban, log: Path) -> None:
    """Each registration begins with a challenge."""
    log.write_text(f"{line('ChallengeSent')}\n{line('SuccessfulAuth')}\n")
    assert fail2ban.accused(log) == set()


def test_the_jail_is_valid(fail2ban: Fail2ban, log: Path) -> None:
    """It would start with it, and knows its actions."""
    for each in (log, log.with_name("messages.log")):
        each.touch()
    checked = fail2ban.test_configuration(log.parent)
    assert (checked.returncode, "ERROR" in checked.stderr) == (0, False), checked.stderr
