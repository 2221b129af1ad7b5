"""`switchroom flow`: stored flows, their versions, and which of them calls run."""

from typing import Annotated, Any

from cyclopts import App, Parameter

from cli.command import IfVersion, rest_command
from cli.help import with_example
from cli.options import parsing
from cli.output import Column, Shown, cell_text, json_shown, rows_shown, shown
from cli.rest_client import RestClient

FlowId = Annotated[str, Parameter(help="Flow id.")]
FlowDocument = Annotated[str, Parameter(help="JSON, @file, or a webhook URL.")]
Version = Annotated[int, Parameter(help="Number of a version.")]
_CHANGES: tuple[Column, ...] = (
    ("change", "change"),
    ("field", "path"),
    ("before", lambda row: cell_text(row.get("before"))),
    ("after", lambda row: cell_text(row.get("after"))),
)

flow = App(
    name="flow",
    help=with_example("Manage flows, their versions, and which of them calls run.", "flow list"),
)


@flow.command
@rest_command
async def put(
    rest: RestClient,
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
    body, query = parsing.action(document, "flow"), None if publish else {"publish": "false"}
    stored = await rest.tagged(
        "PUT", "voice", "flows", flow_id, body=body, query=query, version=if_version
    )
    return shown(stored, f"flow {stored['flowId']}, version {stored['latest']}")


@flow.command
@rest_command
async def check(rest: RestClient, flow_id: FlowId, document: FlowDocument) -> Shown:
    """Validate a flow without storing it.

    Example: switchroom flow check menu @menu.json
    """
    body = parsing.action(document, "flow")
    await rest.tagged("POST", "voice", "flows", flow_id, "check", body=body)
    return shown({"flowId": flow_id, "isValid": True}, f"flow {flow_id} is valid")


@flow.command(name="list")
@rest_command
async def list_(rest: RestClient) -> Shown:
    """List the flows.

    Example: switchroom flow list --output json
    """
    columns = [
        ("flow", "flowId"), ("published", "published"), ("latest", "latest"),
        ("changed", "changedTime"),
    ]  # fmt: skip
    return rows_shown([each async for each in rest.rows("voice", "flows")], columns, "no flows")


@flow.command(alias="get")
@rest_command
async def show(
    rest: RestClient,
    flow_id: FlowId,
    *,
    version: Annotated[int, Parameter(help="Version; default: the one that calls run.")] = 0,
) -> Shown:
    """Show the document of a flow.

    Example: switchroom flow show menu --version 3
    """
    path = ("versions", str(version)) if version else ()
    found = await rest.tagged("GET", "voice", "flows", flow_id, *path)
    return json_shown(found["document"])


@flow.command
@rest_command
async def versions(rest: RestClient, flow_id: FlowId) -> Shown:
    """List the stored versions of a flow.

    Example: switchroom flow versions menu
    """
    found = await rest.tagged("GET", "voice", "flows", flow_id, "versions")
    columns = [
        ("version", "number"), ("published", "isPublished"), ("bytes", "size"),
        ("created", "createdTime"),
    ]  # fmt: skip
    return rows_shown(found["data"], columns, "no versions")


@flow.command
@rest_command
async def diff(rest: RestClient, flow_id: FlowId, before: Version, after: Version) -> Shown:
    """Show what differs between two versions of a flow, field by field.

    Example: switchroom flow diff menu 3 4
    """
    query = {"from": str(before), "to": str(after)}
    found = await rest.tagged("GET", "voice", "flows", flow_id, "diff", query=query)
    return rows_shown(found["differences"], _CHANGES, "no differences")


@flow.command
@rest_command
async def publish(
    rest: RestClient, flow_id: FlowId, version: Version, *, if_version: IfVersion = None
) -> Shown:
    """Let new calls run a version of a flow; an earlier one rolls the flow back.

    Example: switchroom flow publish menu 3
    """
    body: dict[str, Any] = {"number": version}
    stored = await rest.tagged(
        "POST", "voice", "flows", flow_id, "publish", body=body, version=if_version
    )
    return shown(stored, f"flow {flow_id}, version {stored['published']} is published")


@flow.command(name="rm", alias="remove")
@rest_command
async def remove(rest: RestClient, flow_id: FlowId) -> Shown:
    """Delete a flow; calls that run it continue.

    Example: switchroom flow rm menu
    """
    return shown(await rest.remove("flow", flow_id, "voice", "flows", flow_id))
