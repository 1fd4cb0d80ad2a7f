"""Stand-ins, small models and servers that tests share."""
