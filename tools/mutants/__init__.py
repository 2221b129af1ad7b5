"""Mutation testing: small changes of the product that tests must notice, in a seeded sample."""
