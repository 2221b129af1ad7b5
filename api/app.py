"""The ASGI application that serves the components over REST: its routes and its middleware."""

from functools import cache

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

import api.account_pages.routes
import api.agents.routes
import api.audit.routes
import api.auth.routes
import api.callbacks.routes
import api.cdrs.routes
import api.contacts.contacts.routes
import api.contacts.exports.routes
import api.contacts.lists.routes
import api.dnc.routes
import api.numbers.routes
import api.operations.routes
import api.recordings.routes
import api.routing.flow_routes
import api.routing.number_routes
import api.routing.request_routes
import api.templates.routes
import api.voice.listeners.routes
import api.voice.routes
import api.voice.sessions.conference_routes
import api.voice.sessions.transfer_routes
import api.voice.streams.routes
import api.webhooks.routes
from api.audit.trail import RequestAudit
from api.auth.throttle import network_of
from api.common.loop_shares import RequestCosts
from api.console.routes import serve_console
from api.http.body_limit import LimitedRoute
from api.http.openapi_document import Application
from api.http.pages import serve_docs, serve_error_pages, serve_schemas
from api.http.problems import register_error_handlers
from api.http.request_middleware import RequestMiddleware
from api.http.response_pace import ResponsePace
from api.http.services import ServiceState
from api.http.tracing import Tracing
from api.services import Services

ROUTES = (
    api.auth.routes.routes,
    api.auth.routes.key_routes,
    api.account_pages.routes.routes,
    api.voice.routes.routes,
    api.voice.sessions.transfer_routes.routes,
    api.voice.sessions.conference_routes.routes,
    api.voice.streams.routes.routes,
    api.voice.listeners.routes.routes,
    api.routing.number_routes.routes,
    api.routing.flow_routes.routes,
    api.routing.request_routes.routes,
    api.agents.routes.routes,
    api.callbacks.routes.routes,
    api.cdrs.routes.routes,
    api.cdrs.routes.live_routes,
    api.recordings.routes.routes,
    api.webhooks.routes.routes,
    api.audit.routes.routes,
    api.operations.routes.routes,
    api.numbers.routes.routes,
    api.contacts.lists.routes.routes,
    api.contacts.contacts.routes.routes,
    api.dnc.routes.routes,
    api.contacts.lists.routes.tag_routes,
    api.contacts.exports.routes.routes,
    api.templates.routes.routes,
)


def create_app(services: Services) -> ASGIApp:
    """Build the application, with its middleware."""
    settings = services.settings
    app: ASGIApp = ServiceState(_shared_routes(has_docs=settings.api_docs), services)
    if settings.cors_origins:
        app = CORSMiddleware(
            app,
            allow_origins=settings.cors_origins,
            allow_methods=["*"],
            allow_headers=[
                "Authorization",
                "Content-Type",
                "Idempotency-Key",
                "If-Match",
                "If-None-Match",
                "X-Request-Id",
            ],
            expose_headers=["ETag", "X-Request-Id"],
        )
    served = RequestCosts(
        RequestMiddleware(
            ResponsePace(app, settings.api_stranger_requests_per_s, network_of),
            services.metrics,
            RequestAudit(services.audit),
            services.requests_in_flight,
        )
    )
    return Tracing(served, services.traces) if services.traces is not None else served


def create_routes(*, has_docs: bool) -> Application:
    """Build the routes; they find the services in the state of each request."""
    app = Application(
        title="Switchroom",
        openapi_url=None,  # served below, without work for a request and without a CDN
        docs_url=None,
        redoc_url=None,
        telemetry={"tracing": False, "metrics": False, "logs": False},  # these are our own
    )
    app.router.route_class = LimitedRoute
    register_error_handlers(app)
    serve_error_pages(app)
    serve_schemas(app)
    serve_console(app)
    for routes in ROUTES:
        app.router.routes.extend(routes.router.routes)  # an included router matches paths twice
    if has_docs:
        serve_docs(app)
    return app


_shared_routes = cache(create_routes)  # for all applications of a process
