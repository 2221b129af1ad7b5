"""The REST layer: everything that docs/rest.md lists, over HTTP; it asks engines by RPC."""
