"""The pages of the console, in the order of its menu."""

from msgspec import Struct

from api.auth.principal import Principal
from api.auth.scopes import Scope


class Page(Struct, frozen=True):
    """A page: its path below /console, its template, and the scope without which it is not shown.

    `has_phone`: its scripts connect to the PBX nodes' websockets.
    """

    path: str
    title: str
    template: str
    scope: Scope
    in_menu: bool = True
    has_phone: bool = False


PAGES = (
    Page("/calls", "Live calls", "calls.html", "calls:own"),
    Page("/calls/{id}", "Call", "call.html", "calls:own", in_menu=False),
    Page("/records", "Records", "records.html", "cdr:own"),
    Page("/numbers", "Numbers", "numbers.html", "routes:read"),
    Page("/flows", "Flows", "flows.html", "routes:read"),
    Page("/agents", "Agents", "agents.html", "agents:read"),
    Page("/phone", "Phone", "phone.html", "calls:own", has_phone=True),
    Page("/playground", "Playground", "playground.html", "calls", has_phone=True),
    Page("/contacts", "Contacts", "contacts.html", "contacts:read"),
    Page("/contacts/{id}", "Contact list", "contact_list.html", "contacts:read", in_menu=False),
    Page("/dnc", "Do-not-call", "dnc.html", "contacts:read"),
    Page("/templates", "Templates", "templates.html", "templates:read"),
    Page("/callbacks", "Callbacks", "callbacks.html", "routes:read"),
    Page("/webhooks", "Webhooks", "webhooks.html", "webhooks"),
    Page("/keys", "Keys", "keys.html", "keys"),
    Page("/audit", "Audit", "audit.html", "audit"),
    Page("/usage", "Usage", "usage.html", "account:read"),
    Page("/operations", "Operations", "operations.html", "operations"),
)


def menu_of(principal: Principal) -> tuple[Page, ...]:
    """Return the pages in the menu that a caller may see."""
    return tuple(each for each in PAGES if each.in_menu and each.scope in principal.scopes)
