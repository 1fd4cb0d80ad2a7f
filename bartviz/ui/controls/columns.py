"""The names of the columns of our tables, and the words in their cells, as messages: files keep the English ones."""

from __future__ import annotations

from bartviz.language import mark

COLUMNS = frozenset(
    (
        mark("token"), mark("row"), mark("position"), mark("probability"), mark("score"), mark("rank"),
        mark("layer"), mark("tokens"), mark("step"), mark("rule"), mark("right"), mark("key"), mark("weight"),
        mark("total"), mark("token_id"), mark("text"), mark("special"), mark("scaled"), mark("scale"), mark("query"),
        mark("p before"), mark("p after"), mark("next token"), mark("loss (nats)"), mark("log_probability"),
        mark("log p change (nats)"), mark("head"), mark("found"), mark("entropy_bits"), mark("best before"),
        mark("best after"), mark("KL (nats)"), mark("column"), mark("word that looks"), mark("word looked at"),
        mark("stack"), mark("after"), mark("relative change"), mark("bit-equal"), mark("attention"),
        mark("contribution"), mark("original"), mark("lost"), mark("corrupted"), mark("reconstructed"),
        mark("judged"), mark("kind"), mark("open"), mark("closed"), mark("may look at"), mark("and"),
        mark("distance"), mark("measure"), mark("unit"), mark("A"), mark("B"), mark("difference"), mark("name"),
        mark("id"), mark("word"), mark("segment"), mark("from"), mark("piece in the vocabulary"), mark("label"),
        mark("pieces"), mark("piece"), mark("bias"), mark("visible"), mark("length of v"),
        mark("length of weight × v"), mark("dimension"), mark("product"), mark("sum"), mark("variance of scores"),
        mark("mean entropy in bits"), mark("mean largest weight"), mark("source word"), mark("source"),
        mark("target word"), mark("target"), mark("weights"), mark("q·k"), mark("then"), mark("reads"),
        mark("predicts"), mark("state"), mark("won"), mark("running_probability"), mark("running_log_probability"),
        mark("running_perplexity"), mark("rather"), mark("rather_probability"), mark("node"), mark("parent"),
        mark("entered"), mark("number"), mark("mask"), mark("place"), mark("length"), mark("best guess"),
        mark("its probability"), mark("of them right"), mark("lost or moved"), mark("lost or moved tokens"),
        mark("noise"), mark("accuracy"), mark("shift"), mark("cosine distance"), mark("mean cosine distance"),
        mark("mean KL (nats)"), mark("best tokens changed"), mark("p of the best after"), mark("away"),
        mark("format"), mark("value"), mark("output"), mark("masked"), mark("learned, other positions"),
        mark("learned, positions it was fitted to"), mark("sinusoidal, fitted, other positions"),
        mark("sinusoidal, by its rotation"), mark("cuts into"), mark("model"), mark("vocabulary"),
        mark("divergence"), mark("candidates"), mark("mutual"), mark("unknown"),
    )
)  # fmt: skip
HEADS = frozenset(("head", "heads", "and"))  # the columns that hold names of heads
CELLS = frozenset(
    (
        mark("encoder"), mark("decoder"), mark("cross"), mark("right"), mark("wrong"), mark("missed"), mark("open"),
        mark("pruned"), mark("finished"), mark("best"), mark("source"), mark("target"),
        mark("pieces of bytes (byte-level BPE)"), mark("pieces of words (WordPiece)"),
        mark("pieces that hold their space (SentencePiece)"), mark("pieces that say where a word ends"),
    )
)  # fmt: skip
