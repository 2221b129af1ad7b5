"""Requests and views of flows and their versions."""

from typing import Annotated, Any

from msgspec import Meta, Raw, Struct

VersionNumber = Annotated[int, Meta(ge=1, le=2**31 - 1)]


class FlowSummary(Struct, frozen=True, rename="camel"):
    """A flow: its published version, which calls run, and its latest one.

    `version` is its ETag without quotes, and changes with each of its versions and publications.
    """

    flow_id: str
    published: int | None
    latest: int
    version: int
    changed_time: str


class FlowPage(Struct, frozen=True):
    """A page of flows, ordered by id."""

    data: tuple[FlowSummary, ...]
    total: int
    limit: int
    offset: int


class FlowVersionView(Struct, frozen=True, rename="camel"):
    """A version of a flow, which never changes."""

    number: int
    is_published: bool
    created_time: str
    size: int  # bytes


class FlowVersionList(Struct, frozen=True, rename="camel"):
    """The kept versions of a flow, newest first."""

    data: tuple[FlowVersionView, ...]
    total: int


class FlowVersionDocument(Struct, frozen=True, rename="camel"):
    """A version of a flow with its document."""

    flow_id: str
    number: int
    is_published: bool
    created_time: str
    document: Raw


class PublishedFlow(Struct, frozen=True, rename="camel"):
    """The document of `FlowVersionDocument` in the OpenAPI document."""

    flow_id: str
    number: int
    is_published: bool
    created_time: str
    document: Any  # a graph, or a tree of actions


class PublishFlow(Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """Which version calls run from now on; an earlier one rolls the flow back."""

    number: VersionNumber
