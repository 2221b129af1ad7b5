"""Descriptions of fields and parameters, by `field` or, where one differs, by `Shape.field`."""
