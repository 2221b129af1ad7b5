"""Commands of a customer, over REST with the key of an account."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.contract.cli.fake_rest import KEY, FakeRest, problem
from tests.harness.cli.forked import run_forked
from tests.harness.ports import free_port

FLOW = {"flowId": "menu", "published": 3, "latest": 4, "version": 17, "changedTime": "2026-11-26"}
KEY_VIEW = {
    "id": "ab12", "agentId": None, "scopes": ["cdr"], "networks": [], "createdTime": "today",
    "expiryTime": None, "lastUsedTime": None, "isExpired": False,
}  # fmt: skip
CALLBACK = {"target": "https://a.example", "concurrency": 32, "perS": None, "secretNumber": 1,
            "stopped": False}  # fmt: skip
ACCOUNT = {"id": "acme", "name": "Acme", "limits": {"maxCalls": 9}}
JOB = {"id": "j1", "kind": "export", "state": "running", "done": 2, "total": 3}
# The REST layer requires these filters, also without a value.
REQUIRED = "dialedNumber=&dispositionLevel1Id=&dispositionLevel2Id=&dispositionLevel3Id="
HANGUP = {"type": "hangup"}


def page(*rows: Any, total: int | None = None, offset: int = 0) -> dict[str, Any]:
    """Return a page of a list."""
    count = len(rows) if total is None else total
    return {"data": list(rows), "total": count, "limit": len(rows), "offset": offset}


# What is typed, what is sent, the response, and what people see of it.
EXCHANGES: tuple[tuple[str, tuple[str, str, Any], Any, str], ...] = (
    ("flow list", ("GET", "/voice/flows", None), page(FLOW), "menu"),
    ("flow put menu {}", ("PUT", "/voice/flows/menu", {}), FLOW, "flow menu, version 4"),
    ("flow put menu {} --no-publish", ("PUT", "/voice/flows/menu?publish=false", {}), FLOW,
     "version 4"),
    ("flow check menu {}", ("POST", "/voice/flows/menu/check", {}), {}, "flow menu is valid"),
    ("flow show menu", ("GET", "/voice/flows/menu", None), {"document": HANGUP}, "hangup"),
    ("flow show menu --version 2", ("GET", "/voice/flows/menu/versions/2", None),
     {"document": HANGUP}, "hangup"),
    ("flow diff menu 3 4", ("GET", "/voice/flows/menu/diff?from=3&to=4", None),
     {"differences": [{"path": "nodes.a", "change": "removed", "before": 1}]}, "nodes.a"),
    ("flow publish menu 3", ("POST", "/voice/flows/menu/publish", {"number": 3}), FLOW,
     "flow menu, version 3 is published"),
    ("flow rm menu", ("DELETE", "/voice/flows/menu", None), {}, ""),
    ("route set +47 flow:menu", ("PUT", "/voice/numbers/%2B47/route", {"flowId": "menu"}), {},
     ""),
    ("route set +47 https://a.example --no-answer --record",
     ("PUT", "/voice/numbers/%2B47/route",
      {"action": "https://a.example", "answer": False, "recordCall": True}), {}, ""),
    ("route show +47", ("GET", "/voice/numbers/%2B47/route", None), {"flowId": "menu"}, "menu"),
    ("route show +47", ("GET", "/voice/numbers/%2B47/route", None),
     {"action": {"type": "say", "data": {"text": "Hi."}}, "version": 3},
     '{"type":"say","data":{"text":"Hi."}}'),
    ("route rm +47", ("DELETE", "/voice/numbers/%2B47/route", None), {}, ""),
    ("number list", ("GET", "/voice/numbers", None),
     page({"number": "+47", "route": {"flowId": "menu"}}), "flow menu"),
    ("route list", ("GET", "/voice/numbers", None),
     page({"number": "+48", "route": None}), "no routes"),
    ("agent set 1001 PJSIP/1001", ("PUT", "/voice/agents/1001",
     {"endpoint": "PJSIP/1001", "name": ""}), {}, ""),
    ("agent presence 1001", ("GET", "/voice/agents/1001/presence", None),
     {"presence": "online", "busy": True, "callId": "c1", "nodes": ["pbx1"]},
     "1001: online, busy (pbx1), call c1"),
    ("agent list", ("GET", "/voice/agents?withPresence=true&limit=100", None),
     page({"agentId": "1001", "endpoint": "PJSIP/1001", "name": "",
           "state": {"presence": "online", "busy": False, "callId": None, "nodes": []}}),
     "online"),
    ("cdr list", ("GET", f"/cdr?{REQUIRED}&limit=20", None),
     {"data": [{"reqId": "c1", "durationMs": 1500}], "nextCursor": None}, "1.5 s"),
    ("cdr show c1", ("GET", "/cdr/c1", None), {"reqId": "c1"}, "c1"),
    ("audit list --limit 5", ("GET", "/audit?limit=5", None),
     {"data": [{"actor": "key:a"}], "nextCursor": None}, "key:a"),
    ("account show", ("GET", "/account", None), ACCOUNT, "maxCalls"),
    ("account change --email a@b.c --keep-digits-days 7 --region=",
     ("PATCH", "/account", {"email": "a@b.c", "keepDigitsDays": 7, "region": None}), ACCOUNT,
     "acme"),
    ("account usage --since 2026-11-01", ("GET", "/account/usage?startDate=2026-11-01", None),
     {"data": [{"date": "2026-11-02", "calls": 3}], "total": {"calls": 4}}, "2026-11-02  3"),
    ("job list", ("GET", "/jobs", None), page(JOB), "2 of 3"),
    ("job show j1", ("GET", "/jobs/j1", None), JOB, "running"),
    ("job cancel j1", ("POST", "/jobs/j1/cancel", None), JOB, "job j1 is canceled"),
    ("callback set https://a.example", ("PUT", "/voice/callbacks",
     {"target": "https://a.example", "concurrency": 32}), CALLBACK, "32 concurrent"),
    ("callback dead", ("GET", "/voice/callbacks/dead-letters", None),
     {"data": [], "nextCursor": None}, "no dead letters"),
    ("callback resend --all", ("POST", "/voice/callbacks/resend", {"all": True}),
     {"resent": 7}, "7 requeued"),
    ("key list", ("GET", "/keys", None), page(KEY_VIEW), "ab12"),
    ("key create --agent=", ("POST", "/keys", {"scopes": [], "networks": [], "agentId": ""}),
     {"apiKey": "swk_a", "apiSecret": "sws_b"}, "swk_a"),
    ("key create --scope cdr --days 2", ("POST", "/keys",
     {"scopes": ["cdr"], "networks": [], "days": 2}),
     {"id": "a", "apiKey": "swk_a", "apiSecret": "sws_b"}, "apiSecret sws_b"),
    ("key revoke swk_ab12_x", ("DELETE", "/keys/ab12", None), KEY_VIEW, "ab12 is revoked"),
    ("recording list --call c1", ("GET", "/recordings?purpose=call&callId=c1", None),
     {"data": [], "limit": 10, "nextCursor": None}, "no recordings"),
    ("recording transcript acme/2026-01-01/c1.wav",
     ("GET", "/recordings/files/acme/2026-01-01/c1.wav/transcript", None),
     {"state": "done", "segments": [{"channel": "main", "startMs": 1200, "text": "Hello.",
       "confidence": 0.87}]},
     "1.2 s  main  0.87        Hello."),
    ("recording transcript acme/2026-01-01/c1.wav",
     ("GET", "/recordings/files/acme/2026-01-01/c1.wav/transcript", None),
     {"state": "failed", "reason": "too_long", "detail": "it is long"},
     "failed: it is long (too_long)"),
    ("recording transcribe acme/2026-01-01/c1.wav",
     ("POST", "/recordings/files/acme/2026-01-01/c1.wav/transcript", None),
     {"state": "queued"}, "the transcript is queued"),
    ("account change --transcripts=", ("PATCH", "/account", {"transcripts": None}), ACCOUNT,
     "acme"),
    ("recording rm https://x/acme/2026-01-01/c1.wav?s=1",
     ("DELETE", "/recordings/files/acme/2026-01-01/c1.wav", None), {}, ""),
)  # fmt: skip


@pytest.mark.parametrize(
    ("words", "sent", "response", "said"), EXCHANGES, ids=[each[0] for each in EXCHANGES]
)
async def test_each_command_sends_one_request(
    tmp_path: Path, words: str, sent: tuple[str, str, Any], response: Any, said: str
) -> None:
    """The request has the key and the path of the resource; the response is shown."""
    async with FakeRest() as rest:
        rest.responses = {f"{sent[0]} {sent[1]}": response}
        status, out, err = await rest.run(tmp_path, *words.split())
    assert (status, err.replace("switchroom: the secret is shown only once\n", "")) == (0, "")
    assert rest.typed == [sent]
    assert rest.requests[0].headers["Authorization"] == KEY
    assert said in out


@pytest.mark.parametrize(
    ("words", "present", "sent"),
    [
        ("--transcripts whisper", None, {"recognizer": "whisper"}),
        ("--transcript-hint Ada", {"recognizer": "whisper", "language": "en-GB", "hints": ["Rui"]},
         {"recognizer": "whisper", "language": "en-GB", "hints": ["Ada"]}),
        ("--transcripts grammar --transcript-language nb-NO",
         {"recognizer": "whisper", "language": "en-GB", "hints": ["Rui"]},
         {"recognizer": "grammar", "language": "nb-NO", "hints": ["Rui"]}),
    ],
)  # fmt: skip
async def test_transcripts_keep_what_is_not_given(
    tmp_path: Path, words: str, present: Any, sent: dict[str, Any]
) -> None:
    """The setting is replaced as a whole, so its present value is read first."""
    async with FakeRest() as rest:
        account = {**ACCOUNT, "transcripts": present}
        rest.responses = {"GET /account": account, "PATCH /account": account}
        status, _, err = await rest.run(tmp_path, "account", "change", *words.split())
    assert (status, err) == (0, "")
    assert rest.typed[-1] == ("PATCH", "/account", {"transcripts": sent})


async def test_hints_need_a_recognizer(tmp_path: Path) -> None:
    """They have no effect without one."""
    async with FakeRest() as rest:
        rest.responses = {"GET /account": {**ACCOUNT, "transcripts": None}}
        status, _, err = await rest.run(tmp_path, "account", "change", "--transcript-hint", "Ada")
    assert (status, "need --transcripts" in err) == (2, True)


@pytest.mark.parametrize(
    ("words", "sent", "response"), [each[:3] for each in EXCHANGES], ids=lambda each: str(each)[:40]
)
async def test_each_command_is_read_by_programs(
    tmp_path: Path, words: str, sent: tuple[str, str, Any], response: Any
) -> None:
    """Both formats have the same value, also where people see nothing."""
    async with FakeRest() as rest:
        rest.responses = {f"{sent[0]} {sent[1]}": response}
        as_json = await rest.run(tmp_path, *words.split(), "--output", "json")
        as_yaml = await rest.run(tmp_path, *words.split(), "-o", "yaml")
    assert (as_json.status, as_yaml.status) == (0, 0)
    assert json.loads(as_json.out) == yaml.safe_load(as_yaml.out)


async def test_programs_get_every_page(tmp_path: Path) -> None:
    """`--output json` is a list of all rows, as the server has them."""
    other = {**FLOW, "flowId": "other"}
    async with FakeRest() as rest:
        rest.responses = {
            "GET /voice/flows": page(FLOW, total=2),
            "GET /voice/flows?offset=1&limit=1": page(other, total=2, offset=1),
        }
        _, out, _ = await rest.run(tmp_path, "flow", "list", "--output", "json")
    assert json.loads(out) == [FLOW, other]


async def test_a_cursor_is_followed(tmp_path: Path) -> None:
    """Lists without a total are read by their cursor, as far as `--limit`."""
    row = {"callId": "c1", "startTime": "", "durationMs": 0, "url": "u"}
    async with FakeRest() as rest:
        rest.responses = {
            "GET /recordings?purpose=call": {"data": [row], "limit": 1, "nextCursor": "n"},
            "GET /recordings?purpose=call&cursor=n": {"data": [row, row], "nextCursor": "m"},
        }
        _, out, _ = await rest.run(tmp_path, "recording", "list", "--limit", "2", "-o", "json")
    assert len(json.loads(out)) == 2


async def test_a_recording_is_saved_once(tmp_path: Path) -> None:
    """The audio is written to a new file; a file that exists is never overwritten."""
    words = ("recording", "save", "https://x/acme/2026-01-01/c1.wav", "c1.wav")
    async with FakeRest() as rest:
        rest.responses = {"GET /recordings/files/acme/2026-01-01/c1.wav": b"RIFF"}
        done = await rest.run(tmp_path, *words)
        again = await rest.run(tmp_path, *words)
    assert (done.status, done.out) == (0, "c1.wav: 4 bytes\n")
    assert (tmp_path / "c1.wav").read_bytes() == b"RIFF"
    assert (again.status, again.err) == (2, "switchroom: c1.wav: file exists\n")


async def test_a_change_expects_a_version(tmp_path: Path) -> None:
    """`--if-version` is an `If-Match`, and 0 means that there is none; 412 is explained."""
    async with FakeRest() as rest:
        rest.responses = {"PUT /voice/flows/menu": FLOW}
        await rest.run(tmp_path, "flow", "put", "menu", "{}", "--if-version", "17")
        await rest.run(tmp_path, "flow", "put", "menu", "{}", "--if-version", "0")
        rest.responses = {"PUT /voice/flows/menu": problem(412, "changed_meanwhile", "not it")}
        status, _, err = await rest.run(tmp_path, "flow", "put", "menu", "{}", "--if-version", "1")
    assert rest.requests[0].headers["If-Match"] == '"17"'
    assert rest.requests[1].headers["If-None-Match"] == "*"
    assert (status, "repeat with its version" in err) == (2, True)


@pytest.mark.parametrize("words", ["flow rm x", "route rm x", "agent rm x", "request rm x",
                                   "callback rm", "key revoke x",
                                   "recording rm acme/2026-01-01/x.wav"])  # fmt: skip
async def test_nothing_of_that_name_can_be_removed(tmp_path: Path, words: str) -> None:
    """Each removal of a missing item has status 1; other errors have 2."""
    async with FakeRest() as rest:
        rest.responses = _Always(problem(404, "not_found", "no such thing"))
        status, out, err = await rest.run(tmp_path, *words.split())
    assert (status, out) == (1, "")
    assert err.startswith("switchroom: no such ")


@pytest.mark.parametrize("words", ["flow show x", "route show x", "number show x", "cdr show x",
                                   "call show x", "webhook retry x", "key rotate x"])  # fmt: skip
async def test_nothing_of_that_name_is_a_negative_result(tmp_path: Path, words: str) -> None:
    """Status 1, as the page of commands says, with the server's text."""
    async with FakeRest() as rest:
        rest.responses = _Always(problem(404, "not_found", "no such thing"))
        status, out, err = await rest.run(tmp_path, *words.split())
    assert (status, out, err) == (1, "", "switchroom: no such thing\n")


async def test_no_days_are_not_an_unlimited_key(tmp_path: Path) -> None:
    """`--days 0`, such as from an empty variable, reaches the REST layer, which rejects it."""
    async with FakeRest() as rest:
        rest.responses = _Always(problem(400, "invalid", "days: at least 1"))
        status, _, err = await rest.run(tmp_path, "key", "create", "--days", "0")
    assert (status, err) == (2, "switchroom: days: at least 1\n")
    assert rest.typed == [("POST", "/keys", {"scopes": [], "networks": [], "days": 0})]


async def test_a_phone_without_its_password(tmp_path: Path) -> None:
    """An agent that is stored although its phone's password is rejected is named."""
    async with FakeRest() as rest:
        taken = problem(400, "configured_endpoint", "in pjsip.conf")
        rest.responses = {"PUT /voice/agents/ada/password": taken}
        words = ("agent", "set", "ada", "PJSIP/1001", "--new-password")
        status, out, err = await rest.run(tmp_path, *words)
    assert (status, out) == (2, "")
    assert "agent ada is stored, but not its phone's password" in err
    assert "in pjsip.conf" in err


async def test_a_secret_is_exchanged_for_a_token(tmp_path: Path) -> None:
    """Where keys are no tokens, a profile with a secret gets one first."""
    async with FakeRest() as rest:
        rest.responses = {
            "POST /auth/get-access-token/acme": {"accessToken": "token", "expiresIn": 3600},
            "GET /keys": page(),
        }
        profile = ("profile", "set", "acme", "--api-url", rest.url(), "--api-key", "swk_1")
        home = {"XDG_CONFIG_HOME": str(tmp_path)}

        await run_forked((*profile, "--api-secret", "sws", "--account", "acme"), tmp_path, home)
        done = await run_forked(("key", "list"), tmp_path, home)
    assert (done.status, done.out) == (0, "no keys\n")
    assert rest.requests[0].body == {"apiKey": "swk_1", "apiSecret": "sws"}
    assert rest.requests[1].headers["Authorization"] == "token"


async def test_without_a_key_the_command_says_what_it_needs(tmp_path: Path) -> None:
    """Commands that only the REST layer has name the profile and the variables."""
    empty = {"XDG_CONFIG_HOME": str(tmp_path)}
    status, _, err = await run_forked(("key", "list"), tmp_path, empty)
    assert (status, "switchroom profile set NAME" in err) == (2, True)
    nowhere = f"http://127.0.0.1:{free_port()}"
    there = empty | {"SWITCHROOM_API_URL": nowhere, "SWITCHROOM_API_KEY": KEY}
    status, _, err = await run_forked(("key", "list"), tmp_path, there)
    assert (status, err.splitlines()[0]) == (
        2, f"switchroom: no REST layer answers at {nowhere}: connection refused",
    )  # fmt: skip


class _Always(dict[str, Any]):
    """The same response to every request."""

    def __init__(self, response: Any) -> None:
        super().__init__()
        self._response = response

    def get(self, _key: str, _default: Any = None) -> Any:
        return self._response
