"""Pages as HTML; Jinja escapes every value."""

from collections.abc import Sequence
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from api.auth.principal import Principal
from api.console.pages import Page, menu_of
from api.console.security import content_policy
from base.hangup_causes import CAUSES

FOLDER = Path(__file__).with_name("templates")


class Pages:
    """Renders pages for whoever has signed in, and those around the sign-in."""

    def __init__(self, static_version: str) -> None:
        self._environment = Environment(
            autoescape=True,
            loader=FileSystemLoader(FOLDER),
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.globals["static"] = f"/console/static/{static_version}"
        self._environment.globals["causes"] = CAUSES

    def render(
        self,
        page: Page,
        principal: Principal,
        csrf_token: str,
        *,
        websockets: Sequence[str] = (),
        **values: str,
    ) -> HTMLResponse:
        """Return a page with its menu."""
        template = self._environment.get_template("page.html")
        body = template.render(
            page=page, menu=menu_of(principal), caller=principal, csrf_token=csrf_token, **values
        )
        return _response(body, 200, websockets if page.has_phone else ())

    def render_public(self, template: str, status: int = 200, **values: str) -> HTMLResponse:
        """Return a page for anyone."""
        return _response(self._environment.get_template(template).render(**values), status, ())


def _response(body: str, status: int, websockets: Sequence[str]) -> HTMLResponse:
    headers = {
        "Cache-Control": "no-store",  # another user of the browser must not get it by Back
        "Content-Security-Policy": content_policy(websockets),
    }
    return HTMLResponse(body, status, headers)
