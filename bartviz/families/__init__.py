"""What is known of each architecture, without torch. Imports language and errors.

To add a family:
1. Write ``families/<model_type>.py`` with one ``Family``; a relative is ``replace(BERT, ...)`` with what differs.
2. Name it in ``registry.py``; from there the loader, the tape, the counts and the pages read it.
3. Give it a tokenizer and a line in ``FAMILIES`` of ``tests/support/networks.py``.
4. Run ``tests/families``, ``tests/tape``, ``tests/models`` and ``tests/run``: they take every family from there.
5. Add its published models to ``catalogue.json``, and the Korean of its messages (``python -m scripts.words``).
"""
