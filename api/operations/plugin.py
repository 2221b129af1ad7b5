"""Builds the service for operators."""

from functools import partial

from api.engine_client import EngineClient
from api.operations.engine_views import EngineViews
from api.operations.service import OperationsService
from wire.cluster import Engines


def build(engine: EngineClient) -> OperationsService:
    views = EngineViews(partial(engine.request, Engines, "GET", "/engines"))
    return OperationsService(engine, views)
