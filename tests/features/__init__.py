"""Tests of the features, a folder each; here those of all pages together."""
