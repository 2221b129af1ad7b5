"""A customer's gRPC server for status callbacks: keeps what it receives."""

from collections.abc import Callable, Mapping
from typing import Any, Self

import grpc
from grpc import aio
from msgspec import Struct

from wire.generated.callback_pb2 import Ack, CallEvent

SERVICE = "switchroom.callback.v1.StatusCallback"
Answer = Callable[[aio.ServicerContext], Any]


class GrpcCallback(Struct, frozen=True):
    """One received event with its metadata, which carries the signature."""

    event: CallEvent
    metadata: Mapping[str, str]


class GrpcCallbackServer:
    """Serves on a free port of 127.0.0.1; `answer` may wait, refuse or abort."""

    def __init__(self, credentials: grpc.ServerCredentials | None = None) -> None:
        self.callbacks: list[GrpcCallback] = []
        self.answer: Answer | None = None
        self._credentials = credentials
        self._port = 0
        self._server: aio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = aio.server()
        handler = grpc.unary_unary_rpc_method_handler(
            self._deliver,
            request_deserializer=CallEvent.FromString,
            response_serializer=Ack.SerializeToString,
        )
        methods = {"Deliver": handler}
        self._server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler(SERVICE, methods),)
        )
        if self._credentials is None:
            self._port = self._server.add_insecure_port("127.0.0.1:0")
        else:
            self._port = self._server.add_secure_port("127.0.0.1:0", self._credentials)
        await self._server.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            await self._server.stop(0)

    @property
    def target(self) -> str:
        """Return the callback target that a call names."""
        scheme = "grpcs://localhost" if self._credentials else "grpc://127.0.0.1"
        return f"{scheme}:{self._port}"

    async def _deliver(self, event: CallEvent, context: aio.ServicerContext) -> Ack:
        metadata = {name: str(value) for name, value in context.invocation_metadata() or ()}
        self.callbacks.append(GrpcCallback(event, metadata))
        ack = None if self.answer is None else await self.answer(context)
        return Ack() if ack is None else ack
