"""The pitfalls page: one claim per part, with this text's numbers, a picture, sources, and a link to more."""
