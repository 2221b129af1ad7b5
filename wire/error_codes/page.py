"""The page of an error code as HTML: no script, and nothing from another host."""

import re
from html import escape

from wire.docs_address import ERROR_PATH, error_path
from wire.error_codes.catalogue import GROUPS, ErrorCode

# It needs no file: neither a style, nor a picture, nor a script is loaded.
PAGE_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
# They change with the installed version only: after an upgrade, old ones are seen for an hour.
PAGE_CACHING = "public, max-age=3600"
_STYLE = (
    ":root{color-scheme:light dark}"
    "body{font:1rem/1.5 system-ui,sans-serif;max-width:44rem;margin:2rem auto;padding:0 1rem}"
    "h2{font-size:1.1rem}dt{font-weight:600}dd{margin:0 0 .8rem}code{font-size:.95em}"
)
_CODE = re.compile(r"`([^`]+)`")


def error_page(row: ErrorCode, console: str = "") -> str:
    """Return the page of a code, with a link to the server's console if it has one."""
    facts = [
        ("Meaning", _marked(row.meaning)),
        ("Cause", _marked(row.cause)),
        ("What to do", _marked(row.action)),
        ("HTTP status", ", ".join(map(str, row.statuses))),
        ("Appears in", "<br>".join(_marked(each.value) for each in row.places)),
        ("More in the docs", f"<code>{escape(row.see)}</code>" if row.see else ""),
    ]
    rows = "".join(f"<dt>{name}</dt><dd>{text}</dd>" for name, text in facts if text)
    body = (
        f"<h1><code>{escape(row.code)}</code>: {escape(row.title)}</h1><dl>{rows}</dl>"
        f'<p><a href="{ERROR_PATH}">All error codes</a>{_console_link(console)}</p>'
    )
    return _document(row.code, body)


def error_index(console: str = "") -> str:
    """Return the page with all codes, by group."""
    parts = ["<h1>Error codes</h1>"]
    if console:
        parts.append(f"<p>{_console_link(console)}</p>")
    for group in GROUPS:
        parts.append(f"<h2>{escape(group.title)}</h2><ul>")
        parts += (
            f'<li><a href="{error_path(each.code)}"><code>{escape(each.code)}</code></a>: '
            f"{escape(each.title)}</li>"
            for each in group.codes
        )
        parts.append("</ul>")
    return _document("Error codes", "".join(parts))


def _console_link(path: str) -> str:
    return f' <a href="{path}">Console</a>' if path else ""


def _marked(text: str) -> str:
    return _CODE.sub(r"<code>\1</code>", escape(text, quote=False))


def _document(title: str, body: str) -> str:
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{_STYLE}</style></head>"
        f"<body>{body}</body></html>\n"
    )
