"""Which requests the REST layer has: paths, and the parameters of queries."""

import re
from functools import cache
from urllib.parse import parse_qsl, urlsplit

from api.app import ROUTES
from api.http.openapi_document import Application

Operations = tuple[tuple[str, re.Pattern[str], frozenset[str]], ...]


def fault_of(method: str, path_and_query: str) -> str:
    """Return why the REST layer would reject a request to a path with a query; empty: it has it."""
    parts = urlsplit(path_and_query)
    for known, path, parameters in _operations():
        if known == method and path.fullmatch(parts.path):
            given = {name for name, _ in parse_qsl(parts.query, keep_blank_values=True)}
            unknown = sorted(given - parameters)
            return f"no parameter {unknown[0]} of {method} {parts.path}" if unknown else ""
    return f"no operation {method} {parts.path}"


def parameters_of(method: str, path: str) -> frozenset[str]:
    """Return the names of an operation's query parameters."""
    (found,) = (names for known, each, names in _operations()
                if known == method and each.fullmatch(path))  # fmt: skip
    return found


@cache
def _operations() -> Operations:
    app = Application()
    for routes in ROUTES:
        app.router.routes.extend(routes.router.routes)
    return tuple(
        (
            method.upper(),
            re.compile(re.sub(r"\{[^}]*\}", "[^/]+", path)),
            frozenset(
                each["name"] for each in operation.get("parameters", ()) if each["in"] == "query"
            ),
        )
        for path, operations in app.openapi()["paths"].items()
        for method, operation in operations.items()
    )
