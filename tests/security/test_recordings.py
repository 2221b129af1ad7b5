"""Recordings over REST: scopes, accounts, ranges, signed addresses, deletion (M7)."""

import io
from pathlib import Path
from typing import Any

import pytest

from api.auth.key_store import KeyStore, KeyTerms, generate_credentials
from api.common.recording_paths import recording_path
from api.http.idempotency import IdempotentRequest
from api.recordings.service import UrlSigner
from tests.harness.api.cdrs.lists import REQUIRED
from tests.harness.api.cdrs.records import record, write_calls
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene
from wire.events.record import RecordingRecord

AUDIO = bytes(range(200)) * 1_000
DAY = "2026-11-21"
LIST = "/srmain/recordings"


def path_of(number: int, suffix: str = "") -> str:
    return f"acme/{DAY}/0-pbx1-call{number:08}{suffix}.wav"


async def store_recordings(rest: Rest, count: int = 3) -> None:
    """Store calls with a recording each, one of them with voicemails, too."""
    records = []
    for number in range(count):
        paths = [(path_of(number), "call")]
        if number == 0:
            paths += [(path_of(0, f".v{n}"), "voicemail") for n in (1, 2)]
        stored = tuple(
            RecordingRecord(f"s3://bucket/{path}", purpose, "archived", 12_000)
            for path, purpose in paths
        )
        records.append(record(number, after_ms=number * 1_000, recordings=stored))
        for path, _purpose in paths:
            await rest.scene.archive.put(path, io.BytesIO(AUDIO))
    await write_calls(rest.services.database, *records)


async def listed(rest: Rest, **query: Any) -> list[dict[str, Any]]:
    answer = await rest.request("GET", LIST, params=query)
    assert answer.status_code == 200, answer.text
    data: list[dict[str, Any]] = answer.json()["data"]
    return data


async def test_recordings_are_listed_by_time_call_and_purpose(rest: Rest) -> None:
    """Newest first, in pages of calls."""
    await store_recordings(rest)
    calls = [each["callId"][-1] for each in await listed(rest)]
    assert calls == ["2", "1", "0"]
    first = (await rest.request("GET", LIST, params={"limit": 2})).json()
    assert [each["callId"][-1] for each in first["data"]] == ["2", "1"]
    rest_of_it = await listed(rest, cursor=first["nextCursor"])
    assert [each["callId"][-1] for each in rest_of_it] == ["0"]
    assert len(await listed(rest, callId=record(1).call_id)) == 1
    assert len(await listed(rest, purpose="voicemail")) == 2
    from_one = {"startTime": "2026-11-21T12:00:01Z", "endTime": "2026-11-21T12:00:02Z"}
    assert [each["callId"][-1] for each in await listed(rest, **from_one)] == ["1"]


@pytest.mark.parametrize(
    ("part", "status", "expected"),
    [
        (None, 200, AUDIO),
        ("bytes=0-9", 206, AUDIO[:10]),
        ("bytes=199990-", 206, AUDIO[199_990:]),
        ("bytes=-5", 206, AUDIO[-5:]),
        ("bytes=100-1000000", 206, AUDIO[100:]),
    ],
)
async def test_the_audio_is_sent_in_parts(
    rest: Rest, part: str | None, status: int, expected: bytes
) -> None:
    """As players ask for them."""
    await store_recordings(rest, 1)
    (found,) = await listed(rest)
    headers = {"Range": part} if part else {}
    answer = await rest.request("GET", found["url"], headers=headers)
    assert (answer.status_code, answer.content) == (status, expected)
    assert answer.headers["content-type"] == "audio/wav"
    assert answer.headers["accept-ranges"] == "bytes"
    for empty in ("bytes=200000-", "bytes=-0"):
        beyond = await rest.request("GET", found["url"], headers={"Range": empty})
        assert (beyond.status_code, beyond.json()["code"]) == (416, "range")
        assert beyond.headers["content-range"] == "bytes */200000"


async def test_head_is_answered_as_get(rest: Rest) -> None:
    """Without the audio: players ask for its size, with a token or a signed address."""
    await store_recordings(rest, 1)
    (found,) = await listed(rest)
    for address in (found["url"], found["signedUrl"]):
        whole = await rest.request("GET", address)
        answer = await rest.request("HEAD", address)
        assert (answer.status_code, answer.content) == (200, b"")
        own = {"x-request-id", "ratelimit"}
        assert {name: answer.headers[name] for name in answer.headers.keys() - own} == {
            name: whole.headers[name] for name in whole.headers.keys() - own
        }
        assert answer.headers["content-length"] == str(len(AUDIO))
        part = await rest.request("HEAD", address, headers={"Range": "bytes=0-9"})
        assert (part.status_code, part.headers["content-length"]) == (200, str(len(AUDIO)))
    unknown = found["url"].replace("00000000", "00000009")
    assert (await rest.request("HEAD", unknown)).status_code == 404
    assert (await rest.request("HEAD", found["url"], token="")).status_code == 401
    assert (await rest.request("POST", found["url"])).headers["allow"] == "DELETE, GET, HEAD"


async def test_others_see_nothing(rest: Rest) -> None:
    """Neither another account, nor an agent, nor someone without a token."""
    await store_recordings(rest, 1)
    (found,) = await listed(rest)
    agent, other = await rest.token_of("1001"), await rest.token_of("other", "other")
    assert (await rest.rejected("GET", LIST, token=agent))[:2] == (403, "scope")
    for method in ("GET", "DELETE"):
        assert (await rest.rejected(method, found["url"], token=agent))[:2] == (403, "scope")
    assert (await rest.rejected("GET", found["url"], token=other))[0] == 404
    unsigned = f"/media/recordings/{path_of(0)}"
    assert (await rest.client.get(unsigned)).status_code == 400
    assert (await rest.request("GET", LIST, token=other)).json()["data"] == []


@pytest.mark.parametrize(
    "file", ["..%2f..%2fsecret.wav", "0-pbx1-call.txt", "%2e%2e", "a~b.wav", "x.v.wav"]
)
async def test_paths_stay_in_the_archive(rest: Rest, file: str) -> None:
    """A malformed name is unknown."""
    answer = await rest.request("GET", f"/srmain/recordings/files/acme/{DAY}/{file}")
    assert answer.status_code == 404
    status, _body = await rest.scene.request("GET", f"/recordings/acme/{DAY}/{file}")
    assert status == 404


async def test_a_signed_address_works_for_a_while(scene: RpcScene, tmp_path: Path) -> None:
    """Without a token, for this recording only; not after its secret is removed."""
    clock = ManualClock()
    database = sqlite_url(tmp_path)
    async with run_rest(settings_for(database, scene.url), scene, clock) as rest:
        await store_recordings(rest, 2)
        newest, oldest = await listed(rest)
        signed = newest["signedUrl"]
        assert (await rest.client.get(signed)).content == AUDIO
        mixed = signed.replace("00000001", "00000000")
        assert mixed != signed
        assert (await rest.client.get(mixed)).status_code == 404
        longer = signed.replace("expires=", "expires=9")
        assert (await rest.client.get(longer)).status_code == 404
        clock.now += rest.services.settings.recording_url_s * 1_000
        assert (await rest.client.get(signed)).status_code == 404
        assert oldest["signedUrl"] != signed


@pytest.mark.parametrize("path", ["/srmain/cdr", "/srmain/cdr/customer-history", "/srmain/cdr/"])
async def test_records_have_signed_addresses(tmp_path: Path, scene: RpcScene, path: str) -> None:
    """Of each recording, for minutes, and only for those who may read recordings."""
    clock = ManualClock()
    async with run_rest(settings_for(sqlite_url(tmp_path), scene.url), scene, clock) as rest:
        await store_recordings(rest, 1)
        call = record(0).call_id
        url = f"{path}{call}" if path.endswith("/") else path
        query = {} if path.endswith("/") else {**REQUIRED, "reqId": call}
        if path.endswith("history"):
            query = {"number": record(0).to, "limit": "10", "offset": "0"}

        async def recordings(token: str) -> list[dict[str, str]]:
            answer = await rest.request("GET", url, token=token, params=query)
            assert answer.status_code == 200, answer.text
            found = answer.json()
            shown: list[dict[str, str]] = found.get("data", [found])[0]["recordings"]
            return shown

        found = await recordings(rest.token)
        assert len(found) == 3
        for each in found:
            assert each["url"].startswith("s3://bucket/acme/")
            assert (await rest.client.get(each["signedUrl"])).content == AUDIO
        given = generate_credentials()
        keys = KeyStore(rest.services.database, rest.services.now_ms)
        await keys.add("acme", given, KeyTerms(scopes=("read-only",)))
        assert [each.get("signedUrl") for each in await recordings(given.api_key)] == [None] * 3
        clock.now += rest.services.settings.recording_url_s * 1_000
        for each in found:
            assert (await rest.client.get(each["signedUrl"])).status_code == 404


async def test_a_record_has_no_address_of_a_deleted_recording(rest: Rest) -> None:
    """There is nothing to fetch."""
    await store_recordings(rest, 1)
    (listed_one,) = await listed(rest)
    await rest.request("DELETE", listed_one["url"], token=await rest.owner())
    shown = (await rest.request("GET", f"/srmain/cdr/{listed_one['callId']}")).json()
    signed = {each["state"]: "signedUrl" in each for each in shown["recordings"]}
    assert signed == {"deleted": False, "archived": True}


def test_secrets_of_addresses_rotate() -> None:
    """Those of an old secret work until it is removed."""
    clock, path = ManualClock(), recording_path("acme", DAY, "0-pbx1-call00000001.wav")
    address = UrlSigner(["old"], 60, clock).sign(path)
    query = dict(each.split("=") for each in address.partition("?")[2].split("&"))
    expires_s, signature = int(query["expires"]), query["signature"]
    UrlSigner(["new", "old"], 60, clock).check(path, expires_s, signature)
    with pytest.raises(Exception, match="no such recording"):
        UrlSigner(["new"], 60, clock).check(path, expires_s, signature)


async def test_a_recording_is_deleted(rest: Rest) -> None:
    """From the archive, the list and the filter of records; the others stay."""
    await store_recordings(rest, 2)
    newest, _oldest = await listed(rest)
    owner = await rest.owner()
    assert (await rest.rejected("DELETE", newest["url"]))[:2] == (403, "scope")
    assert (await rest.request("DELETE", newest["url"], token=owner)).status_code == 204
    assert len(await listed(rest)) == 1
    assert (await rest.rejected("GET", newest["url"]))[0] == 404
    assert (await rest.rejected("DELETE", newest["url"], token=owner))[0] == 404
    shown = (await rest.request("GET", f"/srmain/cdr/{newest['callId']}")).json()
    assert [each["state"] for each in shown["recordings"]] == ["deleted"]
    assert "recordingPurpose" not in shown


def test_ids_cannot_be_computed_from_idempotency_keys() -> None:
    """A call's id, and so its recording's address, needs the server's secret."""
    request = IdempotentRequest("acme", None, "order-4711", "/srmain/voice/call", b"")
    assert request.request_id("one") == request.request_id("one")
    assert request.request_id("one") != request.request_id("other")
    assert len(request.request_id("one")) == 32
