"""Flow documents: reading, templates node by node, and the checks before a flow is stored."""
