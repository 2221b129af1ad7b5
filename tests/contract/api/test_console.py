"""Sessions and pages of the console, without a browser."""

import gzip
import re
from pathlib import Path

import httpx2
import pytest

from api.app import create_app
from api.audit.trail import AuditFilters
from api.auth.key_cache import KEY_CACHE_MS
from api.auth.key_store import KeyStore, KeyTerms, generate_credentials, parse_key_id
from api.auth.principal import BUNDLES, resolve
from api.auth.sessions import CSRF_HEADER, MAX_SESSION_S, RENEWED_AFTER_S, SESSION_S
from api.console.pages import PAGES
from tests.harness.api.databases import sqlite_url
from tests.harness.api.manual_clock import ManualClock
from tests.harness.api.rest import Rest, run_rest, settings_for
from tests.harness.rpc.scene import RpcScene

CALLS = "/srmain/voice/calls"
COOKIE = "switchroom_session_http"


async def sign_in(rest: Rest, who: str = "acme", **more: str) -> str:
    """Sign in, which keeps the cookie in the client; return the session's CSRF token."""
    given = rest.credentials[who]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret, **more}
    answer = await rest.client.post("/console/session", json=body)
    assert answer.status_code == 204, answer.text
    page = await rest.client.get("/console/calls")
    found = re.search(r'name="csrf-token" content="([^"]+)"', page.text)
    assert found, page.text
    return found[1]


async def status_with(rest: Rest, cookie: str, csrf_token: str) -> int:
    """Return the status of a request with a cookie that the client has not kept."""
    headers = {"Cookie": f"{COOKIE}={cookie}", CSRF_HEADER: csrf_token}
    transport = httpx2.ASGITransport(create_app(rest.services))
    async with httpx2.AsyncClient(transport=transport, base_url="http://api") as client:
        return (await client.get(CALLS, headers=headers)).status_code


async def test_a_session_is_accepted_by_rest_with_its_csrf_token(rest: Rest) -> None:
    """The cookie alone is not enough, also not for a GET, nor with another session's token."""
    csrf_token = await sign_in(rest)
    assert (await rest.client.get(CALLS, headers={CSRF_HEADER: csrf_token})).status_code == 200
    assert (await rest.client.get(CALLS)).status_code == 401
    assert (await rest.client.get(CALLS, headers={CSRF_HEADER: "x"})).status_code == 401
    other = await sign_in(rest)
    assert other != csrf_token
    assert (await rest.client.get(CALLS, headers={CSRF_HEADER: csrf_token})).status_code == 401


async def test_the_cookie_is_no_token_and_a_token_is_no_cookie(rest: Rest) -> None:
    """Each is accepted in its place only."""
    csrf_token = await sign_in(rest)
    cookie = rest.client.cookies[COOKIE]
    assert (await rest.request("GET", CALLS, token=cookie)).status_code == 401
    assert await status_with(rest, rest.token, csrf_token) == 401
    assert await status_with(rest, cookie, csrf_token) == 200


async def test_the_cookie_is_hidden_from_scripts(rest: Rest) -> None:
    """It is HttpOnly and SameSite=Strict, and has no credential in it."""
    given = rest.credentials["acme"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    answer = await rest.client.post("/console/session", json=body)
    header = answer.headers["set-cookie"]
    assert {"HttpOnly", "SameSite=strict", "Path=/"} <= set(header.split("; "))
    assert given.api_secret not in header
    secure = await rest.client.post("https://api/console/session", json=body)
    assert "Secure" in secure.headers["set-cookie"].split("; ")


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ({"apiSecret": "wrong"}, (401, "unauthenticated", [])),
        ({"agentId": "a b"}, (400, "invalid", ["agentId"])),
        ({"password": "x"}, (400, "invalid", ["password"])),
    ],
)
async def test_a_bad_sign_in_is_rejected(
    rest: Rest, change: dict[str, str], expected: tuple[int, str, list[str]]
) -> None:
    """The problem names the field."""
    given = rest.credentials["acme"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret, **change}
    assert await rest.rejected("POST", "/console/session", body, token="") == expected


@pytest.mark.parametrize(
    "headers", [{"Sec-Fetch-Site": "cross-site"}, {"Content-Type": "text/plain"}]
)
async def test_another_site_cannot_sign_someone_in(rest: Rest, headers: dict[str, str]) -> None:
    """Otherwise a person would work in an account of the attacker's."""
    given = rest.credentials["acme"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret}
    answer = await rest.client.post("/console/session", json=body, headers=headers)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


async def test_an_agent_has_an_agents_rights(rest: Rest) -> None:
    """With an account's key, too; and a key of another agent cannot be that agent."""
    csrf_token = await sign_in(rest, agentId="1002")
    headers = {CSRF_HEADER: csrf_token}
    assert (await rest.client.get(CALLS, headers=headers)).status_code == 200
    assert (await rest.client.get("/srmain/keys", headers=headers)).status_code == 403
    given = rest.credentials["1001"]
    body = {"apiKey": given.api_key, "apiSecret": given.api_secret, "agentId": "1002"}
    assert await rest.rejected("POST", "/console/session", body, token="") == (
        400,
        "invalid",
        ["agentId"],
    )


@pytest.mark.parametrize("bundle", BUNDLES)
async def test_each_page_needs_its_scope(rest: Rest, bundle: str) -> None:
    """Without it, the page is 403 and in no menu."""
    made = generate_credentials()
    keys = KeyStore(rest.services.database, rest.services.now_ms)
    await keys.add("acme", made, KeyTerms(scopes=(bundle,)))
    body = {"apiKey": made.api_key, "apiSecret": made.api_secret}
    assert (await rest.client.post("/console/session", json=body)).status_code == 204
    granted = resolve([bundle])
    for page in PAGES:
        path = "/console" + page.path.format(id="3-pbx1-aaaaaaaa")
        answer = await rest.client.get(path)
        assert answer.status_code == (200 if page.scope in granted else 403), path
        menu = re.findall(r'<a href="/console(/[^"]+)"', answer.text)
        if answer.status_code == 200:
            expected = [each.path for each in PAGES if each.in_menu and each.scope in granted]
            assert menu == expected


async def test_a_revoked_key_ends_its_sessions(tmp_path: Path, scene: RpcScene) -> None:
    """Pages lead to the sign-in, and requests are 401, after the two seconds of the cache."""
    clock = ManualClock()
    settings = settings_for(sqlite_url(tmp_path), scene.url)
    async with run_rest(settings, scene, clock) as rest:
        csrf_token = await sign_in(rest)
        key_id = parse_key_id(rest.credentials["acme"].api_key)
        assert key_id
        await rest.services.keys.expire("acme", key_id, clock())
        clock.now += KEY_CACHE_MS + 1
        answer = await rest.client.get(CALLS, headers={CSRF_HEADER: csrf_token})
        assert answer.status_code == 401
        assert (await rest.client.get("/console/calls")).status_code == 303
        assert (await rest.client.get("/console")).headers["location"] == "/console/sign-in"


async def test_without_a_session_pages_lead_to_the_sign_in(rest: Rest) -> None:
    """With the way back, as one value."""
    answer = await rest.client.get("/console/calls?state=a&b=c")
    assert answer.status_code == 303
    expected = "/console/sign-in?next=/console/calls%3Fstate%3Da%26b%3Dc"
    assert answer.headers["location"] == expected
    assert (await rest.client.get("/console")).headers["location"] == "/console/sign-in"


async def test_an_address_without_a_page_leads_back(rest: Rest) -> None:
    """It is a page with links, not a problem as JSON; the rest of the server has problems."""
    answer = await rest.client.get("/console/nothing/here")
    assert answer.status_code == 404
    assert answer.headers["content-type"].startswith("text/html")
    assert 'href="/console"' in answer.text
    assert 'href="/docs/errors"' in answer.text
    assert (await rest.client.get("/console/")).headers["location"] == "/console"
    assert (await rest.client.get("/nothing")).json()["code"] == "not_found"


async def test_the_audit_trail_names_who_signs_in_and_out(rest: Rest) -> None:
    """But no renewal, which each page that stays open sends."""
    headers = {CSRF_HEADER: await sign_in(rest)}
    await rest.client.put("/console/session", headers=headers)
    await rest.client.delete("/console/session", headers=headers)
    await rest.services.audit.flush()
    rows = (await rest.services.audit.page(AuditFilters("acme"), 10, None)).entries
    entries = [each.entry for each in rows if "session" in each.entry.action]
    found = [(each.action, each.outcome) for each in entries]
    assert found == [("DELETE /console/session", "204"), ("POST /console/session", "204")]


async def test_signing_out_needs_the_csrf_token(rest: Rest) -> None:
    """A page of another site cannot sign anyone out."""
    csrf_token = await sign_in(rest)
    assert (await rest.client.delete("/console/session")).status_code == 403
    answer = await rest.client.delete("/console/session", headers={CSRF_HEADER: csrf_token})
    assert answer.status_code == 204
    assert COOKIE not in rest.client.cookies


async def test_pages_forbid_other_hosts_and_caches(rest: Rest) -> None:
    """No script or style in the page itself is allowed either."""
    await sign_in(rest)
    for path in ("/console/calls", "/console/sign-in"):
        answer = await rest.client.get(path)
        (policy,) = answer.headers.get_list("content-security-policy")
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        assert answer.headers["cache-control"] == "no-store"
        assert not re.search(r"<script(?![^>]*src=)|\son\w+=|\sstyle=", answer.text)


async def test_files_are_compressed_and_kept(rest: Rest) -> None:
    """Below the path of their version; below another one they are not kept."""
    page = (await rest.client.get("/console/sign-in")).text
    (path,) = re.findall(r'href="(/console/static/[^"]+\.css)"', page)
    answer = await rest.client.get(path)
    assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert answer.headers["content-encoding"] == "gzip"
    plain = await rest.client.get(path, headers={"Accept-Encoding": "identity"})
    assert plain.content == answer.content
    kinds = {each.headers["content-type"] for each in (answer, plain)}
    assert kinds == {"text/css; charset=utf-8"}
    assert int(answer.headers["content-length"]) == len(gzip.compress(plain.content, mtime=0))
    old = await rest.client.get("/console/static/0123456789ab/style.css")
    assert old.headers["cache-control"] == "no-store"
    for missing in ("nowhere.js", "%2e%2e/routes.py", "vendored/vendored.toml"):
        assert (await rest.client.get(f"/console/static/x/{missing}")).status_code == 404


async def test_a_session_lasts_while_it_is_used(tmp_path: Path, scene: RpcScene) -> None:
    """Pages renew it; it ends after an hour without one, and after twelve hours at last."""
    clock = ManualClock()
    settings = settings_for(sqlite_url(tmp_path), scene.url)
    async with run_rest(settings, scene, clock) as rest:
        csrf_token = await sign_in(rest)
        first = rest.client.cookies[COOKIE]
        clock.now += RENEWED_AFTER_S * 1_000
        await rest.client.get("/console/calls")
        renewed = rest.client.cookies[COOKIE]
        assert renewed != first
        clock.now += (SESSION_S - RENEWED_AFTER_S) * 1_000
        assert await status_with(rest, renewed, csrf_token) == 200
        assert await status_with(rest, first, csrf_token) == 401
        assert (await rest.client.put("/console/session")).status_code == 403
        for _ in range((MAX_SESSION_S - SESSION_S) // RENEWED_AFTER_S):
            answer = await rest.client.put("/console/session", headers={CSRF_HEADER: csrf_token})
            assert answer.status_code == 204
            clock.now += RENEWED_AFTER_S * 1_000
        answer = await rest.client.put("/console/session", headers={CSRF_HEADER: csrf_token})
        assert answer.status_code == 401
        assert (await rest.client.get("/console/calls")).status_code == 303
