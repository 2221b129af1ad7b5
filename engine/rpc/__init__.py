"""The internal RPC: JSON over HTTP, one short handler a request."""
