"""What the lists of `switchroom account` show: run in this process, on a database in a file."""

import json
import re
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from cli.commands.account import account as app
from tests.harness.api.cli import switchroom
from tests.harness.api.databases import sqlite_url

LONG_ID = "a-reseller-with-a-rather-long-identifier-of-fifty"
NARROW, WIDE = "80", "200"
FIRST_COLUMNS = ("account", "name", "active", "calls", "calls/s")
NEW_LEGS = "20 live 10/s 500 min/day"
NEW_LIMITS = {
    "maxCalls": 20,
    "maxCallsPerS": 2,
    "maxLiveLegs": 20,
    "maxLegsPerS": 10,
    "maxMinutesPerDay": 500,
    "recognizers": ["grammar", "whisper"],
}
# In this order: the words of a command, and what it changes.
CHANGES: tuple[tuple[str, dict[str, Any]], ...] = (
    ("trunks acme main backup", {"trunks": ["main", "backup"]}),
    ("region acme no", {"region": "NO"}),
    ("email acme mailto:crm@example.com", {"email": "crm@example.com"}),
    ("set acme --allow +47 --allow sip:", {"destinations": ["+47", "sip:"]}),
    ("set acme --deny +4782 --deny +4781", {"denied": ["+4782", "+4781"]}),
    ("set acme --allow-type premium", {"numberTypes": ["premium"]}),
    ("set acme --max-calls 7 --keep-recordings-days 30", {"maxCalls": 7, "keepRecordingsDays": 30}),
    ("set acme --no-active", {"isActive": False}),
    ("start acme", {"isActive": True}),
    ("trunks acme any", {"trunks": []}),
    ("region acme none", {"region": None}),
    ("email acme none", {"email": None}),
    ("set acme --allow any", {"destinations": None}),
    ("set acme --allow none", {"destinations": []}),
    ("set acme --deny none", {"denied": []}),
    ("set acme --allow-type none", {"numberTypes": []}),
    ("set acme --allow-recognizer deepgram", {"recognizers": ["deepgram"]}),
    ("set acme --allow-recognizer none", {"recognizers": []}),
    ("set acme --allow-recognizer any", {"recognizers": None}),
    (
        "set acme --max-calls 0 --keep-recordings-days 0",
        {"maxCalls": None, "keepRecordingsDays": None},
    ),
)


class Commands:
    """Runs commands; what they read from the environment is set for the test."""

    def __init__(
        self, monkeypatch: pytest.MonkeyPatch, printed: pytest.CaptureFixture[str]
    ) -> None:
        self._monkeypatch = monkeypatch
        self._printed = printed

    def run(self, *words: str, columns: str = WIDE) -> list[list[str]]:
        """Run a command; return the cells of the lines that it prints."""
        self._monkeypatch.setenv("COLUMNS", columns)
        lines = self._printed_by(words).splitlines()
        return [re.split(r" {2,}| (?=sw[ks]_)", line.strip()) for line in lines]

    def json(self, *words: str) -> Any:
        """Run a command; return the JSON that it prints."""
        return json.loads(self._printed_by((*words, "--output", "json")))

    def _printed_by(self, words: tuple[str, ...]) -> str:
        self._printed.readouterr()
        app(words, result_action="return_value")
        return self._printed.readouterr().out


@pytest.fixture
def commands(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> Commands:
    """Provide the commands, on an empty database."""
    monkeypatch.setenv("SWITCHROOM_DATABASE_URL", sqlite_url(tmp_path))
    return Commands(monkeypatch, capsys)


def test_the_list_of_accounts(commands: Commands) -> None:
    """An account whose destinations are `none` may call no number."""
    commands.run("create", "acme", "--name", "Acme Ltd", "--max-calls", "9", "--allow", "+47")
    commands.run("set", "acme", "--max-calls-per-s", "2.5", "--no-active")
    commands.run("region", "acme", "NO")
    commands.run("create", "other")
    assert commands.run("list") == [
        [*FIRST_COLUMNS, "region", "may call", "legs", "keeps"],
        ["acme", "Acme Ltd", "no", "9", "2.5", "NO", "+47", NEW_LEGS, "forever"],
        ["other", "other", "yes", "20", "2", "none", NEW_LEGS, "forever"],
    ]
    commands.run("set", "acme", "--max-calls", "0", "--allow", "any", "--active")
    commands.run("set", "acme", "--max-live-legs", "60", "--max-minutes-per-day", "3000")
    commands.run("set", "acme", "--max-legs-per-s", "0.5", "--max-legs-per-call", "9")
    dials = "60 live 0.5/s 3000 min/day 9/call"
    commands.run("set", "acme", "--keep-records-days", "365", "--keep-digits-days", "7")
    account = ["acme", "Acme Ltd", "yes", "any", "2.5", "NO", "any"]
    assert [*account, dials, "records 365 d digits 7 d"] in commands.run("list")
    commands.run("set", "acme", "--keep-records-days", "0", "--keep-digits-days", "0")
    commands.run("set", "acme", "--max-live-legs", "0", "--max-minutes-per-day", "0")
    commands.run("set", "acme", "--max-legs-per-s", "0", "--max-legs-per-call", "0")
    assert commands.run("list")[1][-2:] == ["no limit", "forever"]


def test_a_new_account_has_limits(commands: Commands) -> None:
    """Each holds until the operator sets another one; 0 and `any` remove it."""
    created = commands.json("create", "acme", "--max-legs-per-s", "3")
    assert {name: created[name] for name in NEW_LIMITS} == {**NEW_LIMITS, "maxLegsPerS": 3}
    options = ("--max-calls", "--max-calls-per-s", "--max-live-legs", "--max-legs-per-s")
    none = [word for each in (*options, "--max-minutes-per-day") for word in (each, "0")]
    free = commands.json("create", "free", *none, "--allow-recognizer", "any")
    assert {name: free[name] for name in NEW_LIMITS} == dict.fromkeys(NEW_LIMITS)


def test_each_change_of_an_account(commands: Commands) -> None:
    """It changes what it names, and nothing else."""
    expected = commands.json("create", "acme")
    assert expected["name"] == "acme"
    for words, change in CHANGES:
        expected |= change
        assert commands.json(*words.split()) == expected, words
    commands.json("set", "acme", "--allow", "+47", "--allow-type", "premium", "--deny", "+4782")
    assert commands.run("list")[1][5] == "+47 not +4782 premium"


def test_a_long_account_id_is_shown_in_one_piece(commands: Commands) -> None:
    """On a narrow terminal, too, so that it can be copied."""
    commands.run("create", LONG_ID, "--name", "Reseller")
    cells = [cell for line in commands.run("list", columns=NARROW) for cell in line]
    assert LONG_ID in cells


def test_lists_at_80_columns(commands: Commands) -> None:
    """A key's id is whole, and no word is broken."""
    commands.run("create", "acme", "--name", "Acme Ltd", "--allow", "+47")
    restricted = create_key(commands, "--agent", "1001", "--network", "192.0.2.0/24")
    assert restricted in [line[0] for line in commands.run("key", "list", "acme", columns="80")]
    words = " ".join(" ".join(line) for line in commands.run("list", columns="80")).split()
    assert {"account", "active", "calls/s", "region", "min/day", "forever", "Acme"} <= {*words}


def test_the_list_of_keys(commands: Commands) -> None:
    """Each with its id, not its secret, its agent, what it may do and from where, and its times."""
    commands.run("create", "acme")
    agents = create_key(commands, "--agent", "1001")
    accounts = create_key(commands)
    listed = {line[0]: line[1:] for line in commands.run("key", "list", "acme")}
    names = ["agent", "scopes", "networks", "created", "expires", "last used"]
    assert listed.pop("key") == names
    assert listed.keys() == {agents, accounts}
    *agent, _, expires, used = listed[agents]
    assert (agent, expires, used) == (["1001", "agent", "any"], "never", "never")
    assert listed[accounts][:2] == ["integrator", "any"]
    commands.run("key", "rotate", "acme", agents)
    listed = {line[0]: line[1:] for line in commands.run("key", "list", "acme")[1:]}
    replacements = [each for key, each in listed.items() if key not in {agents, accounts}]
    assert [(*each[:3], each[-2]) for each in replacements] == [("1001", "agent", "any", "never")]
    assert listed[agents][-2] != "never"


def test_a_restricted_key(commands: Commands) -> None:
    """Scopes, bundles, networks and an expiry; its replacement has the same."""
    commands.run("create", "acme")
    words = ("--scope", "read-only", "--scope", "calls", "--network", "192.0.2.0/24")
    restricted = create_key(commands, *words, "--days", "30")
    listed = {line[0]: line[1:] for line in commands.run("key", "list", "acme")}
    scopes, networks, _, expires, _ = listed[restricted]
    assert (scopes, networks) == ("read-only calls", "192.0.2.0/24")
    assert expires != "never"
    commands.run("key", "rotate", "acme", restricted)
    listed = {line[0]: line[1:] for line in commands.run("key", "list", "acme")[1:]}
    ((scopes, networks, _, new_expires, _),) = [
        each for key, each in listed.items() if key != restricted
    ]
    assert (scopes, networks) == ("read-only calls", "192.0.2.0/24")
    assert new_expires == expires


def test_when_a_key_ends(commands: Commands) -> None:
    """After its days; one that is replaced after the overlap; one that is revoked at once."""
    commands.run("create", "acme")
    replaced = commands.json("key", "create", "acme", "--days", "2")["apiKey"]
    words = ("--overlap-s", "600", "--days", "4")
    new = commands.json("key", "rotate", "acme", replaced, *words)["apiKey"]
    lived = {each["id"]: minutes_of(each) for each in commands.json("key", "list", "acme")}
    id_, new_id = (each.split("_")[1] for each in (replaced, new))
    assert lived == {id_: 10, new_id: 4 * 24 * 60}
    assert commands.json("key", "revoke", "acme", new) == {"id": new_id, "isExpired": True}
    ended = {each["id"]: each["isExpired"] for each in commands.json("key", "list", "acme")}
    assert ended == {id_: False, new_id: True}


def minutes_of(key: dict[str, Any]) -> int:
    """Return the lifetime of a key."""
    created, expires = (
        datetime.fromisoformat(key[f"{name}Time"]) for name in ("created", "expiry")
    )
    return round((expires - created) / timedelta(minutes=1))


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (("--scope", "boss"), "--scope boss: one of owner, integrator, supervisor"),
        (("--network", "192.0.2.1/24"), "--network 192.0.2.1/24: a network such as"),
        (("--agent", "1001", "--scope", "operations"), "--scope operations: no --agent"),
        (("--agent", ""), "an empty text: expected 1 to 64 letters"),
        (("--days", "-5"), "Must be >= 1"),
        (("--days", "999999999"), "Must be <= 3650"),
    ],
)
def test_a_wrong_restriction(
    commands: Commands,
    capsys: pytest.CaptureFixture[str],
    words: tuple[str, ...],
    expected: str,
) -> None:
    """The message names what is allowed."""
    with pytest.raises(SystemExit):
        commands.run("key", "create", "acme", *words)
    assert expected in capsys.readouterr().err


def create_key(commands: Commands, *words: str) -> str:
    """Create a key of the account; return how a list shows it."""
    ((_, key), _) = commands.run("key", "create", "acme", *words)
    prefix, key_id, _ = key.split("_", 2)
    return f"{prefix}_{key_id}_…"


def test_a_key_of_operators(commands: Commands) -> None:
    """Only the operator's command can make the first one."""
    commands.run("create", "acme")
    made = create_key(commands, "--scope", "operations")
    listed = {line[0]: line[1:] for line in commands.run("key", "list", "acme")}
    assert listed[made][0] == "operations"


async def test_programs_get_lists_as_json(tmp_path: Path) -> None:
    """With the names of the REST layer, and of a key nothing that could be used."""
    for words in ("create acme --max-calls 9", "number add acme +4721930000", "key create acme"):
        await switchroom(tmp_path, "account", *words.split())

    async def listed(*words: str) -> list[Any]:
        _, out = await switchroom(tmp_path, "account", *words, "--output", "json")
        found: list[Any] = json.loads(out)
        return found

    (account,) = await listed("list")
    assert (account["id"], account["maxCalls"]) == ("acme", 9)
    assert await listed("number", "list", "acme") == ["+4721930000"]
    (key,) = await listed("key", "list", "acme")
    assert (key["scopes"], key["agentId"]) == (["integrator"], None)
    assert not [name for name in key if "secret" in name.lower() or "hash" in name.lower()]
