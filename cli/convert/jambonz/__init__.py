"""`switchroom convert jambonz`: from an array of verbs to a tree of verbs."""
