"""Builds the services for numbers, flows and API requests."""

from msgspec import Struct

from api.accounts.store import AccountStore
from api.documents.editor import DocumentEditor
from api.documents.flow_store import FlowStore
from api.engine_client import EngineClient
from api.routing.flow_service import FlowService
from api.routing.number_service import NumberRoutes
from api.routing.request_service import ApiRequestService


class RoutingSlice(Struct, frozen=True):
    """The services of this slice."""

    numbers: NumberRoutes
    flows: FlowService
    requests: ApiRequestService


def build(
    documents: DocumentEditor, flows: FlowStore, engine: EngineClient, accounts: AccountStore
) -> RoutingSlice:
    return RoutingSlice(
        NumberRoutes(accounts, documents, engine),
        FlowService(documents, flows, engine),
        ApiRequestService(documents, engine),
    )
