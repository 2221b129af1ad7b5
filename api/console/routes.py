"""The routes of the console: its pages, its sign-in and its files."""

from typing import Annotated, NamedTuple
from urllib.parse import quote

from fastapi import FastAPI, Request
from msgspec import Struct
from starlette.responses import HTMLResponse, RedirectResponse, Response

from api.auth.dependencies import client_address, count_request, note_caller
from api.auth.principal import Principal
from api.auth.schemas import Secret
from api.auth.service import Authenticator
from api.auth.sessions import CSRF_HEADER, ConsoleSessions, Session
from api.auth.throttle import NOT_AUTHENTICATED
from api.common.errors import Forbidden, Unauthenticated
from api.console.pages import PAGES, Page, menu_of
from api.console.rendering import Pages
from api.console.static_files import StaticFiles
from api.http.msgspec_adapter import json_body
from api.http.services import service
from wire.base import Name

BASE = "/console"
SIGN_IN = f"{BASE}/sign-in"
SESSION = f"{BASE}/session"
_SAME_ORIGIN = frozenset({"same-origin", None})  # clients that are no browsers do not say it
Sessions = Annotated[ConsoleSessions, service("sessions")]
Authentication = Annotated[Authenticator, service("authenticator")]


class SignIn(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A key's pair; with an agent, the session acts for that agent."""

    api_key: Secret
    api_secret: Secret
    agent_id: Name | None = None


def serve_console(app: FastAPI) -> None:
    """Serve the console."""
    files = StaticFiles()
    pages = Pages(files.version)
    _serve_session(app)

    @app.get(f"{BASE}/static/{{version}}/{{path:path}}", include_in_schema=False)
    async def static_file(version: str, path: str, request: Request) -> Response:
        return files.serve(version, path, request)

    @app.get(f"{BASE}/phone.js", include_in_schema=False)
    async def phone_module() -> RedirectResponse:
        """Lead pages of others to the present version of the phone."""
        headers = {"Cache-Control": "no-cache", "Access-Control-Allow-Origin": "*"}
        location = f"{BASE}/static/{files.version}/phone/embed.js"
        return RedirectResponse(location, 302, headers)

    @app.get(SIGN_IN, include_in_schema=False)
    async def sign_in() -> HTMLResponse:
        return pages.render_public("sign_in.html")

    @app.get(BASE, include_in_schema=False)
    async def first_page(
        request: Request, sessions: Sessions, authenticator: Authentication
    ) -> Response:
        signed_in = await _find_session(request, sessions, authenticator)
        if signed_in is None:
            return RedirectResponse(SIGN_IN, 303)
        found = menu_of(signed_in.caller)
        if not found:
            return pages.render_public("forbidden.html", 403)
        return RedirectResponse(BASE + found[0].pages[0].path, 303)

    for page in PAGES:
        _serve_page(app, pages, page)

    @app.get(f"{BASE}/{{path:path}}", include_in_schema=False)
    async def no_such_page(path: str) -> Response:
        """Show a person what is no page; the static files above are for scripts."""
        if not path:
            return RedirectResponse(BASE, 303)
        return pages.render_public("not_found.html", 404)


def _serve_session(app: FastAPI) -> None:
    read_sign_in = json_body(SignIn)

    @app.post(SESSION, include_in_schema=False)
    async def start_session(
        request: Request, sessions: Sessions, authenticator: Authentication
    ) -> Response:
        """Sign in; a page of another site cannot, so it cannot make its own key someone's."""
        # A form of another site can send text, but no JSON; older browsers do not say where it is.
        is_json = request.headers.get("Content-Type", "").startswith("application/json")
        if not is_json or request.headers.get("Sec-Fetch-Site") not in _SAME_ORIGIN:
            raise Forbidden("sign in at /console/sign-in", "forbidden")
        given = await read_sign_in(request)
        key = await authenticator.check_credentials(
            given.api_key, given.api_secret, given.agent_id, client_address(request)
        )
        await count_request(request, key.account_id)
        state = request.state  # for logs and audit
        state.account_id, state.key_id = key.account_id, key.id
        state.agent_id = key.agent_id or given.agent_id
        response = Response(status_code=204)
        sessions.write(sessions.start(key.id, given.agent_id), request, response)
        return response

    @app.put(SESSION, include_in_schema=False)
    async def renew_session(
        request: Request, sessions: Sessions, authenticator: Authentication
    ) -> Response:
        """Prolong the session of a page that stays open."""
        signed_in = await _find_session(request, sessions, authenticator)
        if signed_in is None:
            raise Unauthenticated(NOT_AUTHENTICATED)
        _check_csrf_token(request, signed_in.session)
        response = Response(status_code=204)
        if (renewed := sessions.renewed(signed_in.session)) is not None:
            sessions.write(renewed, request, response)
        return response

    @app.delete(SESSION, include_in_schema=False)
    async def end_session(
        request: Request, sessions: Sessions, authenticator: Authentication
    ) -> Response:
        signed_in = await _find_session(request, sessions, authenticator)
        if signed_in is not None:
            _check_csrf_token(request, signed_in.session)
        response = Response(status_code=204)
        sessions.end(request, response)
        return response


def _serve_page(app: FastAPI, pages: Pages, page: Page) -> None:
    @app.get(BASE + page.path, include_in_schema=False, name=page.element)
    async def show(request: Request, sessions: Sessions, authenticator: Authentication) -> Response:
        signed_in = await _find_session(request, sessions, authenticator)
        if signed_in is None:
            return _to_sign_in(request)
        session, caller = signed_in
        if page.scope not in caller.scopes:
            return pages.render_public("forbidden.html", 403)
        url = request.state.services.settings.api_phone_url
        websockets = (url,) if url is not None else ()
        response = pages.render(page, caller, session.csrf_token, websockets=websockets)
        if (renewed := sessions.renewed(session)) is not None:
            sessions.write(renewed, request, response)
        return response


def _check_csrf_token(request: Request, session: Session) -> None:
    if not session.accepts(request.headers.get(CSRF_HEADER, "")):
        raise Forbidden(f"the header {CSRF_HEADER} is not this session's", "forbidden")


class _SignedIn(NamedTuple):
    session: Session
    caller: Principal


async def _find_session(
    request: Request, sessions: ConsoleSessions, authenticator: Authenticator
) -> _SignedIn | None:
    """Return who has signed in, and count the request; None if the session or its key has ended.

    Raises TooManyRequests.
    """
    session = sessions.read(request)
    if session is None:
        return None
    address = client_address(request)
    try:
        caller = await authenticator.authenticate_session(session.key_id, session.agent_id, address)
    except Unauthenticated:
        return None
    await count_request(request, caller.account_id)
    note_caller(request, caller)
    return _SignedIn(session, caller)


def _to_sign_in(request: Request) -> Response:
    query = f"?{request.url.query}" if request.url.query else ""
    return RedirectResponse(f"{SIGN_IN}?next={quote(request.url.path + query)}", 303)
