"""A template's components: parsed, validated and rendered."""
