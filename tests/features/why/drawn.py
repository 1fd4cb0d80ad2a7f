"""What the test of all pages reads of this feature."""

VIEWS = ({"method": "rollout"}, {"method": "leave-one-out", "instead": "#98"})
