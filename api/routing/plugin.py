"""Builds the services for numbers, flows and API requests."""

from typing import Annotated

from msgspec import Struct

from api.accounts.store import AccountStore
from api.common.account_concurrency import LimitedSlots
from api.documents.editor import DocumentEditor
from api.documents.flow_store import FlowStore
from api.engine_client import EngineClient
from api.routing.flow_service import FlowService
from api.routing.number_service import NumberRoutes
from api.routing.request_service import ApiRequestService
from base.limit import Limit

MAX_FLOW_DIFFS: Annotated[
    int, Limit("process", "wait", "Comparisons of versions of flows, one of each account.")
] = 2
MAX_FLOW_DIFFS_OF_ACCOUNT: Annotated[
    int, Limit("account", "429 `too_many`", "Comparisons of flows that run, or wait for it.")
] = 4


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
        FlowService(
            documents,
            flows,
            engine,
            LimitedSlots(
                "too_many",
                "comparisons of flows",
                slots=MAX_FLOW_DIFFS,
                most_of_account=MAX_FLOW_DIFFS_OF_ACCOUNT,
            ),
        ),
        ApiRequestService(documents, engine),
    )
