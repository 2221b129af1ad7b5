"""The OpenAPI document of the REST layer."""
