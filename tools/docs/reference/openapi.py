"""Both OpenAPI documents, as their servers return them."""

from functools import cache
from typing import Any

from api.app import ROUTES
from api.http.openapi_document import Application
from engine.rpc.schemas import openapi_document


@cache
def rest_document() -> dict[str, Any]:
    """Return the document of the REST layer."""
    app = Application()
    for routes in ROUTES:
        app.router.routes.extend(routes.router.routes)
    return app.openapi()


DOCUMENTS = {"rest": rest_document, "rpc": openapi_document}
