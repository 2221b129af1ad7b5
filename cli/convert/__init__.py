"""`switchroom convert`: documents of other platforms become trees of verbs."""
