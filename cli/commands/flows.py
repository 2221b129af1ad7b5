"""`switchroom flow`: stored flows, their versions, and which of them calls run."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import resource_command
from cli.errors import UsageError
from cli.named_commands import with_example
from cli.options import parsing
from cli.options.version import IfVersion
from cli.output import Column, Shown, cell_text, json_shown, rows_shown, shown
from cli.resources import Resources
from cli.resources import remove as remove_resource

FlowId = Annotated[str, Parameter(help="Flow id.")]
FlowDocument = Annotated[str, Parameter(help="JSON, @file, or a webhook URL.")]
Version = Annotated[int, Parameter(help="Number of a version.")]
_CHANGES: tuple[Column, ...] = (
    ("change", "change"),
    ("field", "path"),
    ("before", lambda row: cell_text(row.get("before"))),
    ("after", lambda row: cell_text(row.get("after"))),
)
NO_REST = "the RPC has no such operation: a profile with the REST layer is needed"

flow = App(
    name="flow",
    help=with_example("Manage flows, their versions, and which of them calls run.", "flow list"),
)


@flow.command
@resource_command
async def put(
    resources: Resources,
    flow_id: FlowId,
    document: FlowDocument,
    *,
    publish: Annotated[
        bool, Parameter(help="Let new calls run it.", negative="--no-publish")
    ] = True,
    if_version: IfVersion = None,
) -> Shown:
    """Store a new version of a flow from JSON or @file: a graph of nodes or an action tree.

    Example: switchroom flow put menu @menu.json --no-publish
    """
    body, query = parsing.action(document, "flow"), None
    if not publish:
        _need_rest(resources)
        query = {"publish": "false"}
    stored = await resources.request(
        "PUT", "flow", flow_id, body=body, query=query, version=if_version
    )
    number = stored.get("latest", stored.get("version"))
    return shown(stored, f"flow {stored['flowId']}, version {number}")


@flow.command
@resource_command
async def check(resources: Resources, flow_id: FlowId, document: FlowDocument) -> Shown:
    """Validate a flow without storing it.

    Example: switchroom flow check menu @menu.json
    """
    body = parsing.action(document, "flow")
    await resources.request("POST", "flow", flow_id, "check", body=body)
    return shown({"flowId": flow_id, "isValid": True}, f"flow {flow_id} is valid")


@flow.command(name="list")
@resource_command
async def list_(resources: Resources) -> Shown:
    """List the flows.

    Example: switchroom flow list --output json
    """
    rows = [each async for each in resources.rows("flow")]
    columns: list[Column] = [("flow", "flowId"), ("version", "version")]
    if resources.is_rest:
        columns[1:] = [("published", "published"), ("latest", "latest"), ("changed", "changedTime")]
    return rows_shown(rows, columns, "no flows")


@flow.command(alias="get")
@resource_command
async def show(
    resources: Resources,
    flow_id: FlowId,
    *,
    version: Annotated[int, Parameter(help="Version; default: the one that calls run.")] = 0,
) -> Shown:
    """Show the document of a flow.

    Example: switchroom flow show menu --version 3
    """
    if not resources.is_rest:
        query = {"version": str(version)} if version else {}
        return json_shown(await resources.request("GET", "flow", flow_id, query=query))
    path = ("versions", str(version)) if version else ()
    found = await resources.request("GET", "flow", flow_id, *path)
    return json_shown(found["document"])


@flow.command
@resource_command
async def versions(resources: Resources, flow_id: FlowId) -> Shown:
    """List the stored versions of a flow.

    Example: switchroom flow versions menu
    """
    found = await resources.request("GET", "flow", flow_id, "versions")
    if not resources.is_rest:
        return shown(found["versions"], " ".join(map(str, found["versions"])))
    columns = [
        ("version", "number"), ("published", "isPublished"), ("bytes", "size"),
        ("created", "createdTime"),
    ]  # fmt: skip
    return rows_shown(found["data"], columns, "no versions")


@flow.command
@resource_command
async def diff(resources: Resources, flow_id: FlowId, before: Version, after: Version) -> Shown:
    """Show what differs between two versions of a flow, field by field.

    Example: switchroom flow diff menu 3 4
    """
    _need_rest(resources)
    query = {"from": str(before), "to": str(after)}
    found = await resources.request("GET", "flow", flow_id, "diff", query=query)
    return rows_shown(found["differences"], _CHANGES, "no differences")


@flow.command
@resource_command
async def publish(
    resources: Resources, flow_id: FlowId, version: Version, *, if_version: IfVersion = None
) -> Shown:
    """Let new calls run a version of a flow; an earlier one rolls the flow back.

    Example: switchroom flow publish menu 3
    """
    _need_rest(resources)
    body: dict[str, Any] = {"number": version}
    stored = await resources.request(
        "POST", "flow", flow_id, "publish", body=body, version=if_version
    )
    return shown(stored, f"flow {flow_id}, version {stored['published']} is published")


@flow.command(name="rm", alias="remove")
@resource_command
async def remove(resources: Resources, flow_id: FlowId) -> Shown:
    """Delete a flow; calls that run it continue.

    Example: switchroom flow rm menu
    """
    return await remove_resource(resources, "flow", flow_id)


def _need_rest(resources: Resources) -> None:
    if not resources.is_rest:
        raise UsageError(NO_REST)
