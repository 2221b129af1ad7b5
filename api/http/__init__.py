"""HTTP: requests, responses, errors, paging, OpenAPI."""
