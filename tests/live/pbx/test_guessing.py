"""Guessed passwords at a real PBX: what it logs, and whom fail2ban's filter finds in that."""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from tests.harness.ami.monitoring import RecordingListener, watching
from tests.harness.fail2ban import Fail2ban
from tests.harness.operations.log_lines import address
from tests.harness.pbx.asterisk import Pbx
from tests.harness.phones.digest_login import Login, try_login
from tests.harness.until import until

GUESSER = "127.0.0.2"
WRONG = Login("1001", "wrong", host=GUESSER)
FORGED = 'LocalAddress="IPV4/UDP/127.0.0.1/1",RemoteAddress="IPV4/UDP/203.0.113.9/1"'
ESCAPED = FORGED.replace('"', '\\"')


@pytest.fixture
async def pbx(tmp_path: Path) -> AsyncIterator[Pbx]:
    """Run a node whose phones are at one address only."""
    settings = {"AGENT_NETS": "127.0.0.1,127.0.0.2"}
    async with Pbx(tmp_path / "pbx1", settings=settings) as node:
        yield node


@pytest.mark.parametrize(
    "login",
    [
        WRONG,
        Login("1001", "wrong", host=GUESSER, call_id=f'a",{FORGED}'),
        Login("1001", "wrong", host=GUESSER, response=f'a\\",{ESCAPED},x=\\"'),
        Login("x%0d%0a%0d%0aEvent%3a%20Shutdown", "wrong", host=GUESSER, to="1001"),
    ],
    ids=["plain", "in-call-id", "in-response", "in-name"],
)
async def test_the_guesser_is_found(pbx: Pbx, login: Login, tmp_path: Path) -> None:
    """By the address that the request came from, whatever else the request contains."""
    assert await try_login(pbx, login) == 401
    await until(lambda: bool(accused(pbx)), what="the log")
    assert accused(pbx) == {GUESSER}
    fail2ban = await asyncio.to_thread(Fail2ban, tmp_path)
    assert await asyncio.to_thread(fail2ban.accused, log_of(pbx)) == {GUESSER}


async def test_a_guess_without_an_event_is_found(pbx: Pbx, tmp_path: Path) -> None:
    """Asterisk has no security event of a Call-ID that is not valid UTF-8."""
    assert await try_login(pbx, replace(WRONG, call_id="q\udcf8q")) == 401
    fail2ban = await asyncio.to_thread(Fail2ban, tmp_path)
    assert await asyncio.to_thread(fail2ban.accused, pbx.messages) == {GUESSER}


@pytest.mark.parametrize("call_id", ["\udcf8 q", "\u00f8", "q\x01q"])
async def test_a_call_id_that_could_accuse_another_is_refused(pbx: Pbx, call_id: str) -> None:
    """Even with the right password."""
    assert await try_login(pbx, Login("1001", pbx.passwords.agents, call_id=call_id)) == 401


async def test_a_login_accuses_no_address(pbx: Pbx) -> None:
    """The challenge that precedes each login does not count."""
    assert await try_login(pbx, Login("1001", pbx.passwords.agents)) == 200
    await until(lambda: "SuccessfulAuth" in security_log(pbx), what="the log")
    assert accused(pbx) == set()


async def test_a_phone_elsewhere_is_refused(pbx: Pbx) -> None:
    """The right password does not count outside the networks of phones."""
    elsewhere = Login("1001", pbx.passwords.agents, host="127.0.0.3")
    assert await try_login(pbx, elsewhere) == 401
    await until(lambda: bool(accused(pbx)), what="the log")
    assert accused(pbx) == {"127.0.0.3"}


async def test_guesses_are_counted(pbx: Pbx) -> None:
    """An engine that watches the node learns of each, and of no login that succeeds."""
    async with watching(pbx.ami_port, pbx.passwords.ami) as listener:
        await until(lambda: 0 in listener.calls, what="the first look")
        assert await try_login(pbx, Login("1001", pbx.passwords.agents)) == 200
        assert await try_login(pbx, WRONG) == 401
        assert await try_login(pbx, Login("nobody", "wrong", host=GUESSER)) == 401
        elsewhere = Login("1001", pbx.passwords.agents, host="127.0.0.3")
        assert await try_login(pbx, elsewhere) == 401
        await until(lambda: refused(listener)["sip"] >= 3, what="the refused logins")
        async with watching(pbx.ami_port, "wrong"):
            await until(lambda: refused(listener)["ami"] == 1, what="the refused engine")
        assert ("login", "1001") in listener.calls


def refused(listener: RecordingListener) -> Counter[str]:
    """Count the refused logins by service."""
    return Counter(
        each[1] for each in listener.calls if isinstance(each, tuple) and each[0] == "refused"
    )


def security_log(pbx: Pbx) -> str:
    """Return the log that fail2ban reads."""
    return log_of(pbx).read_text()


def log_of(pbx: Pbx) -> Path:
    """Return the path of that log."""
    return pbx.folder / "var/log/security.log"


def accused(pbx: Pbx) -> set[str]:
    """Return the addresses that the filter finds."""
    return {found for line in security_log(pbx).splitlines() if (found := address(line))}
