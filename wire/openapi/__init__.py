"""What the OpenAPI documents of REST and of the RPC have in common."""
