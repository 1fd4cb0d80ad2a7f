"""A model that runs in a browser: its passes and tokenizers in JavaScript, and what Python writes for them."""
