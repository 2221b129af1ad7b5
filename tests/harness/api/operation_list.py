"""The operations of the REST layer, with the scope of each."""

from typing import NamedTuple

from fastapi.routing import APIRoute
from starlette.routing import BaseRoute

from api.app import create_routes
from api.auth.dependencies import ScopeCheck
from api.http.openapi_operation import ANY_SCOPE


class Operation(NamedTuple):
    """A method of a route, and the scope that its handler's dependency checks."""

    method: str
    path: str
    scope: str | None

    @property
    def url(self) -> str:
        """Return its path with an id that no resource has."""
        return "/".join("999999" if part.startswith("{") else part for part in self.path.split("/"))


def operations() -> list[Operation]:
    """Return all operations of the application, hidden ones, too."""
    return [
        Operation(method, str(getattr(route, "path", "")), _scope(route))
        for route in create_routes(has_docs=True).routes
        for method in sorted(getattr(route, "methods", None) or {"GET"})
    ]


def _scope(route: BaseRoute) -> str | None:
    """Return what a route requires; dependencies of dependencies do not occur."""
    if not isinstance(route, APIRoute):
        return None
    checks = [each.call for each in route.dependant.dependencies]
    scopes = [each.scope or ANY_SCOPE for each in checks if isinstance(each, ScopeCheck)]
    assert len(scopes) <= 1, route.path
    return scopes[0] if scopes else None
