"""The REST layer: the platform of the specification over HTTP; it asks engines by RPC."""
