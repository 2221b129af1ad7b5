"""Delivers events over gRPC: one unary call with a deadline, signed in its metadata."""

import asyncio
import socket
import time
from collections import OrderedDict
from collections.abc import Callable
from time import perf_counter
from typing import Any

import grpc
import msgspec
from grpc import aio

from base.address_guard import AddressGuard, AddressRefused
from base.lookups import Lookups
from base.tasks import BackgroundTasks
from engine.callbacks.transport import Delivered, Failed, Gone, Outcome, SignedEvent, reason_of
from engine.webhooks.log.exchange import NO_LOG, AttemptLog, Received, Sent, exchange
from wire.callbacks.targets import DeliveryTarget, GrpcTarget, format_target
from wire.generated.callback_pb2 import Ack, CallEvent, Diversion

METHOD = "/switchroom.callback.v1.StatusCallback/Deliver"
RESPONSE_TIMEOUT_S = 10.0
MAX_CHANNELS = 256
PUSHBACK_KEY = "grpc-retry-pushback-ms"  # gRPC's proposal A6
CHANNEL_OPTIONS = (
    ("grpc.enable_http_proxy", 0),
    ("grpc.enable_retries", 0),  # retries follow our own schedule
    ("grpc.max_receive_message_length", 4_096),
    ("grpc.max_reconnect_backoff_ms", 5_000),
    ("grpc.use_local_subchannel_pool", 1),
)
Deliver = Callable[..., Any]


class GrpcTransport:
    """Keeps a channel to each target; checks the address before it opens one."""

    def __init__(  # noqa: PLR0913 - collaborators are passed in
        self,
        guard: AddressGuard,
        lookups: Lookups,
        *,
        response_timeout_s: float = RESPONSE_TIMEOUT_S,
        roots: bytes | None = None,
        clock: Callable[[], float] = time.time,
        log: AttemptLog = NO_LOG,
    ) -> None:
        self._clock = clock
        self._log = log
        self._guard = guard
        self._lookups = lookups
        self._timeout_s = response_timeout_s
        self._roots = roots  # certificates to trust; None: gRPC's own
        self._channels: OrderedDict[GrpcTarget, aio.Channel] = OrderedDict()
        self._closing = BackgroundTasks()

    async def deliver(self, target: DeliveryTarget, event: SignedEvent) -> Outcome:
        assert isinstance(target, GrpcTarget)  # noqa: S101 - narrows for mypy
        started_s, at_ms = perf_counter(), int(self._clock() * 1000)
        outcome = await self._deliver(target, event)
        took_ms = round((perf_counter() - started_s) * 1000)
        sent = Sent("POST", format_target(target), event.headers, event.body)
        reason = reason_of(outcome)
        self._log.add(
            exchange(event.subject, event.attempt, at_ms, took_ms, sent, Received(), reason)
        )
        return outcome

    async def _deliver(self, target: GrpcTarget, event: SignedEvent) -> Outcome:
        channel = None
        try:
            async with asyncio.timeout(self._timeout_s):
                channel = await self._channel(target, event.account)
                return await self._call(channel, event)
        except TimeoutError:
            return Failed("timeout")
        except AddressRefused:
            return Failed("refused_address")
        except OSError:
            return Failed("connect")
        except aio.AioRpcError as error:
            if (
                error.code() is grpc.StatusCode.UNAVAILABLE
                and self._channels.get(target) is channel
            ):
                self._close_channel(target)  # its name may resolve elsewhere by now
            return _failed(error)

    async def close(self) -> None:
        """Close all channels once their calls have ended."""
        for target in list(self._channels):
            self._close_channel(target)
        await self._closing.join()

    async def _call(self, channel: aio.Channel, event: SignedEvent) -> Outcome:
        deliver: Deliver = channel.unary_unary(
            METHOD,
            request_serializer=CallEvent.SerializeToString,
            response_deserializer=Ack.FromString,
        )
        metadata = tuple(event.headers.items())
        ack = await deliver(to_protobuf(event.body), timeout=self._timeout_s, metadata=metadata)
        return Gone() if ack.gone else Delivered()

    async def _channel(self, target: GrpcTarget, account: str) -> aio.Channel:
        channel = self._channels.get(target)
        if channel is None:
            address = await self._address(target, account)
            channel = self._channels.get(target)  # or opened meanwhile
        if channel is None:
            channel = self._channels[target] = self._create_channel(target, address)
        self._channels.move_to_end(target)
        if len(self._channels) > MAX_CHANNELS:
            self._close_channel(next(iter(self._channels)))
        return channel

    async def _address(self, target: GrpcTarget, account: str) -> str:
        """Resolve a target's name once: the checked address is the one connected to."""
        found = await self._lookups.find(account, target.host, target.port)
        for family, *_, address in found:
            self._guard.check(str(address[0]), int(address[1]))
            if not target.is_tls:
                self._guard.check_plain(str(address[0]))
            if family == socket.AF_INET6:
                return f"ipv6:[{address[0]}]:{target.port}"
            return f"ipv4:{address[0]}:{target.port}"
        raise OSError("no address")

    def _create_channel(self, target: GrpcTarget, address: str) -> aio.Channel:
        options = [*CHANNEL_OPTIONS, ("grpc.default_authority", f"{target.host}:{target.port}")]
        if not target.is_tls:
            return aio.insecure_channel(address, options)
        options.append(("grpc.ssl_target_name_override", target.host))
        return aio.secure_channel(address, grpc.ssl_channel_credentials(self._roots), options)

    def _close_channel(self, target: GrpcTarget) -> None:
        """Close a channel with grace; closed at once, it would cancel calls in flight."""
        channel = self._channels.pop(target)
        self._closing.start(channel.close(self._timeout_s))


def to_protobuf(body: bytes) -> CallEvent:
    """Convert an event's JSON to a protobuf message; absent fields stay empty."""
    event = msgspec.json.decode(body)
    custom = event.get("customData")
    return CallEvent(
        **{"from": event["from"]},
        id=event["id"],
        event=event["event"],
        sequence_number=event["sequenceNumber"],
        timestamp_ms=event["timestamp"],
        account_id=event["accountId"],
        call_id=event["callId"],
        parent_call_id=event.get("parentCallId", ""),
        channel_id=event.get("channelId", ""),
        direction=event["direction"],
        to=event["to"],
        call_status=event["callStatus"],
        leg_status=event.get("legStatus", ""),
        party=event.get("party", ""),
        sip_code=event.get("sipCode", 0),
        hangup_cause=event.get("hangupCause", 0),
        ended_by=event.get("endedBy", ""),
        reason=event.get("reason", ""),
        duration_s=event.get("duration", 0),
        recording_url=event.get("recordingUrl", ""),
        agent_id=event.get("agent_id", ""),
        reference_id=event.get("reference_id", ""),
        duration_ms=event.get("durationMs", 0),
        ended_by_channel_id=event.get("endedByChannelId", ""),
        custom_data_json=msgspec.json.encode(custom).decode() if custom is not None else "",
        privacy=event.get("privacy", False),
        diversion=[Diversion(**each) for each in event.get("diversion", ())],
        json=body.decode(),
    )


def _failed(error: aio.AioRpcError) -> Failed:
    code = error.code()
    if code is grpc.StatusCode.DEADLINE_EXCEEDED:
        return Failed("timeout")
    pushback = str(dict(error.trailing_metadata() or ()).get(PUSHBACK_KEY, ""))
    retry_after_s = int(pushback) / 1000 if pushback.isdecimal() else None
    return Failed(f"grpc_{code.name.lower()}", retry_after_s)
