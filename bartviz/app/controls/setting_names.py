"""The names that records and checkpoints use for settings, as messages. No Streamlit here."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.record.vocabulary import BRANCHED_AT, DECODER_START

# The settings of a run, by their names in a record.
USED = {
    "mode": mark("mode"),
    "beams": mark("beams"),
    "length_penalty": mark("length penalty"),
    "early_stopping": mark("early stopping"),
    "temperature": mark("temperature"),
    "top_k": mark("top-k"),
    "top_p": mark("top-p"),
    "seed": mark("seed"),
    "max_new_tokens": mark("maximum new tokens"),
    "min_new_tokens": mark("minimum new tokens"),
    "no_repeat_ngram_size": mark("n-gram size that may not repeat"),
    "use_rules": mark("the model's rules"),
    "rules": mark("rules"),
    "forced": mark("given tokens"),
    "ablated": mark("silenced"),
    "batch": mark("batch size"),
    "device": mark("device"),
    "edited": mark("edited"),
    BRANCHED_AT: mark("branched at"),
    DECODER_START: mark("first token of the decoder"),
}
# A checkpoint's own decoding settings.
OWN = {
    "min_length": mark("length at least {value}"),
    "min_new_tokens": mark("at least {value} new tokens"),
    "max_length": mark("length at most {value}"),
    "max_new_tokens": mark("at most {value} new tokens"),
    "length_penalty": mark("length penalty {value}"),
    "early_stopping": mark("early stopping {value}"),
    "no_repeat_ngram_size": mark("no repeated n-grams of {value}"),
}
