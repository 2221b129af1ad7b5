"""`/console`: pages for operators, developers and agents, made of the REST API's own data."""
