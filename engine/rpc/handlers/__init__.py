"""One module per RPC resource."""
