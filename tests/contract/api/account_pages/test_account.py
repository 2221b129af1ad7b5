"""`/srmain/account`: an account shows and changes itself, and no other."""

from typing import Any

import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from pydantic.alias_generators import to_camel

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

ACCOUNT = "/srmain/account"
LIMITS = {
    "max_calls": 1,
    "max_calls_per_s": 2.0,
    "max_live_legs": 3,
    "max_legs_per_s": 4.0,
    "max_minutes_per_day": 5,
    "max_legs_per_call": 6,
}
QUOTAS = (
    "max_keys",
    "max_jobs",
    "max_contact_lists",
    "max_contacts",
    "max_contact_bytes",
    "max_stored_bytes",
    "max_documents",
    "max_document_bytes",
    "api_requests_per_s",
)


async def change(rest: Rest, tag: str = "", token: str | None = None, **body: Any) -> Any:
    """Change the account as its owner, of the version with an ETag if one is given."""
    headers = {"If-Match": tag} if tag else {}
    token = token or await rest.owner()
    return await rest.request("PATCH", ACCOUNT, body, token=token, headers=headers)


async def test_the_account_is_shown_with_its_limits(kept: Rest) -> None:
    """Settings are the account's, limits and quotas the operator's."""
    accounts = kept.services.accounts
    changed = replace(
        await accounts.get("acme"), **LIMITS, denied=("+1",), recognizers=("grammar",)
    )
    await accounts.change(changed)
    answer = await kept.request("GET", ACCOUNT)
    found = answer.json()
    assert (found["id"], found["name"], found["region"]) == ("acme", "acme", None)
    settings = settings_for("sqlite+aiosqlite:///", kept.scene.url)
    quotas = {name: getattr(settings, name) for name in QUOTAS}
    expected = {to_camel(name): value for name, value in (LIMITS | quotas).items()}
    others = {"destinations": None, "denied": ["+1"], "numberTypes": [], "trunks": []}
    others |= {"recognizers": ["grammar"]}
    assert found["limits"] == expected | others
    assert answer.headers["etag"].strip('"').isdigit()


async def test_a_change_is_of_one_account(kept: Rest) -> None:
    """What is given is changed, null removes it, and the other account sees nothing."""
    answer = await change(kept, email="mailto:crm@example.com ", region="NO", keepRecordingsDays=90)
    assert answer.status_code == 200, answer.text
    assert (await change(kept, region=None)).status_code == 200
    found = (await kept.request("GET", ACCOUNT)).json()
    shown = [found[name] for name in ("email", "region", "keepRecordingsDays", "name")]
    assert shown == ["crm@example.com", None, 90, "acme"]
    other = await kept.token_of("other", "other")
    assert (await kept.request("GET", ACCOUNT, token=other)).json()["email"] is None


async def test_the_second_of_two_writers_is_refused(kept: Rest) -> None:
    """A change of a version that is no longer there is 412, and changes nothing."""
    tag = (await kept.request("GET", ACCOUNT)).headers["etag"]
    first = await change(kept, tag, name="First")
    second = await change(kept, tag, name="Second")
    assert (first.status_code, second.status_code) == (200, 412)
    assert second.json()["code"] == "changed_meanwhile"
    assert (await kept.request("GET", ACCOUNT)).json()["name"] == "First"
    assert (await change(kept, first.headers["etag"], name="Third")).status_code == 200


@pytest.mark.parametrize(
    "body",
    [
        {"region": "QQ"},
        {"region": "no"},
        {"email": "no-address"},
        {"name": "a" * 129},
        {"name": "a\nb"},
        {"keepRecordsDays": 0},
        {"transcripts": {}},
        {"transcripts": {"recognizer": "No such"}},
        {"transcripts": {"recognizer": "whisper", "language": "english!"}},
        {"transcripts": {"recognizer": "whisper", "hints": [""]}},
        {"transcripts": {"recognizer": "whisper", "hints": ["a"] * 101}},
        {"transcripts": {"recognizer": "whisper", "enabled": True}},
        {"maxCalls": 1_000},
        {"limits": {}},
        {"isActive": True},
    ],
)
async def test_what_an_account_may_not_change(rest: Rest, body: dict[str, Any]) -> None:
    """Invalid values, and what the operator decides: 400, which names the field."""
    owner = await rest.owner()
    status, code, _paths = await rest.rejected("PATCH", ACCOUNT, body, token=owner)
    assert (status, code) == (400, "invalid")
    assert (await rest.request("GET", ACCOUNT)).json()["name"] == "acme"


async def test_a_country_is_a_code(rest: Rest) -> None:
    """The error says so in plain words."""
    answer = await change(rest, region="Norway")
    expected = "expected a country of two capital letters, such as NO"
    assert answer.json()["detail"] == f"region: {expected}"


async def test_names_in_any_script(rest: Rest) -> None:
    """A name may have any letters."""
    assert (await change(rest, name="Åse 株式会社 🙂")).json()["name"] == "Åse 株式会社 🙂"


async def test_an_agent_changes_nothing(rest: Rest) -> None:
    """An agent's key with the scope does not manage the account."""
    made = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", made, KeyTerms("1001", ("account:write", "jobs")))
    assert (await change(rest, token=made.api_key, name="Mine")).status_code == 403
    assert (await rest.request("GET", "/srmain/jobs", token=made.api_key)).status_code == 403


async def test_transcripts_need_recognizers(rest: Rest) -> None:
    """Without any here, they are not turned on; they can be turned off."""
    body = {"transcripts": {"recognizer": "whisper"}}
    owner = await rest.owner()
    rejected = await rest.rejected("PATCH", ACCOUNT, body, token=owner)
    assert rejected[:2] == (409, "no_transcripts")
    assert (await change(rest, transcripts=None)).json()["transcripts"] is None


async def test_who_transcribes(database_url: str, scene: RpcScene) -> None:
    """The setting is stored as a whole: what is left out has its default."""
    settings = settings_for(
        database_url,
        scene.url,
        transcript_recognizers=("wss://speech.example.com",),
        speech_token=SecretStr("s" * 32),
    )
    async with run_rest(settings, scene) as rest:
        first = {"recognizer": "deepgram", "language": "nb-NO", "hints": ["Oslo"]}
        assert (await change(rest, transcripts=first)).json()["transcripts"] == first
        assert (await rest.request("GET", ACCOUNT)).json()["transcripts"] == first
        changed = (await change(rest, transcripts={"recognizer": "whisper"})).json()
        second = {"recognizer": "whisper", "language": "en-US", "hints": []}
        assert changed["transcripts"] == second
        accounts = rest.services.accounts
        allowed = replace(await accounts.get("acme"), recognizers=("grammar", "whisper"))
        await accounts.change(allowed)
        body, owner = {"transcripts": first}, await rest.owner()
        rejected = await rest.rejected("PATCH", ACCOUNT, body, token=owner)
        assert rejected == (400, "recognizer_not_allowed", ["transcripts.recognizer"])
        assert (await change(rest, transcripts=second, name="Acme")).status_code == 200
