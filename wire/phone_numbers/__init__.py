"""Phone numbers: their international form, and types that cost more than others."""
