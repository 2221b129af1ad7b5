"""The pages of the console, in the order of its menu."""

from collections.abc import Iterator

from msgspec import Struct

from api.auth.principal import Principal, Scope


class Page(Struct, frozen=True):
    """A page: its path below /console, and the scope without which it is not shown.

    It is one component, `element`, of a module. `has_phone`: its scripts connect to the PBX nodes'
    websockets.
    """

    path: str
    title: str
    module: str
    element: str
    scope: Scope
    style: str = ""
    in_menu: bool = True
    has_phone: bool = False


class Group(Struct, frozen=True):
    """Pages below one heading of the menu."""

    title: str
    pages: tuple[Page, ...]


MENU = (
    Group(
        "Calls",
        (
            Page(
                "/calls",
                "Live calls",
                "components/call-list.js",
                "call-list",
                "calls:own",
                style="calls/calls.css",
            ),
            Page(
                "/calls/{id}",
                "Call",
                "components/call-page.js",
                "call-page",
                "calls:own",
                style="calls/calls.css",
                in_menu=False,
            ),
            Page("/records", "Records", "account/records.js", "record-list", "cdr:own"),
            Page(
                "/phone", "Phone", "phone/phone-page.js", "phone-page", "calls:own", has_phone=True
            ),
            Page(
                "/playground",
                "Playground",
                "playground/playground-page.js",
                "playground-page",
                "calls",
                style="flows/flows.css",
                has_phone=True,
            ),
        ),
    ),
    Group(
        "Applications",
        (
            Page(
                "/numbers",
                "Numbers",
                "flows/number-list.js",
                "number-list",
                "routes:read",
                style="flows/flows.css",
            ),
            Page(
                "/flows",
                "Flows",
                "flows/flow-page.js",
                "flow-page",
                "routes:read",
                style="flows/flows.css",
            ),
            Page("/agents", "Agents", "account/agents.js", "agent-list", "agents:read"),
            Page("/callbacks", "Callbacks", "account/callbacks.js", "callback-page", "routes:read"),
            Page("/webhooks", "Webhooks", "account/webhooks.js", "webhook-log", "webhooks"),
        ),
    ),
    Group(
        "Customers",
        (
            Page("/contacts", "Contacts", "account/contacts.js", "contact-lists", "contacts:read"),
            Page(
                "/contacts/{id}",
                "Contact list",
                "account/contact-list.js",
                "contact-list",
                "contacts:read",
                in_menu=False,
            ),
            Page("/dnc", "Do-not-call", "account/dnc.js", "do-not-call-list", "contacts:read"),
            Page(
                "/templates", "Templates", "account/templates.js", "template-list", "templates:read"
            ),
        ),
    ),
    Group(
        "Account",
        (
            Page("/keys", "Keys", "account/keys.js", "key-list", "keys"),
            Page("/audit", "Audit", "account/audit.js", "audit-trail", "audit"),
            Page("/usage", "Usage", "account/usage.js", "account-usage", "account:read"),
            Page(
                "/operations",
                "Operations",
                "operations/operations-page.js",
                "operations-page",
                "operations",
            ),
        ),
    ),
)
PAGES = tuple(page for group in MENU for page in group.pages)


def menu_of(principal: Principal) -> tuple[Group, ...]:
    """Return the groups and pages that a caller may see."""
    found = (Group(each.title, tuple(_shown(each, principal))) for each in MENU)
    return tuple(each for each in found if each.pages)


def _shown(group: Group, principal: Principal) -> Iterator[Page]:
    return (each for each in group.pages if each.in_menu and each.scope in principal.scopes)
