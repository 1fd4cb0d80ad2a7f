"""What the test of all pages reads of this feature."""

TEXTS = ("logits", "attentions")
