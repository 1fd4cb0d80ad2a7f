"""The words that records use for how a text was made: modes, rules of decoding, and why a text ended.

Saved files hold these strings, so none of them may change. Each is marked for translation, because pages show it.
Rules are plain strings, not a closed type: a checkpoint's rule may carry a number, as in ``no 3 tokens repeated``.
"""

from __future__ import annotations

from typing import Final, Literal

from bartviz.language import mark

Mode = Literal["greedy", "beam search", "sampling", "one pass", "given target", "ablated", "edited", "given weights"]
Stop = Literal["end token", "length limit"]

# Modes: how the text of a record was made.
GREEDY: Final[Mode] = mark("greedy")
BEAM_SEARCH: Final[Mode] = mark("beam search")
SAMPLING: Final[Mode] = mark("sampling")
ONE_PASS: Final[Mode] = mark("one pass")
GIVEN_TARGET: Final[Mode] = mark("given target")
TO_MEAN: Final = " to mean"  # of a head that was scaled toward a mean, which a record does not keep
ABLATED: Final[Mode] = mark("ablated")
EDITED: Final[Mode] = mark("edited")
GIVEN_WEIGHTS: Final[Mode] = mark("given weights")
MODES: Final = frozenset({GREEDY, BEAM_SEARCH, SAMPLING, ONE_PASS, GIVEN_TARGET, ABLATED, EDITED, GIVEN_WEIGHTS})
WRITTEN: Final = frozenset({GREEDY, BEAM_SEARCH, SAMPLING})  # the model writes the text itself
STEPPED: Final = WRITTEN | {GIVEN_TARGET}  # a step for every token of the output

# Why a text ended.
END_TOKEN: Final[Stop] = mark("end token")
LENGTH_LIMIT: Final[Stop] = mark("length limit")
STOPS: Final = frozenset({END_TOKEN, LENGTH_LIMIT})

# Rules of a checkpoint: what decided a token where its probability did not.
FORCED_FIRST_TOKEN: Final = mark("forced first token")
FORCED_END_TOKEN: Final = mark("forced end token")
MINIMUM_LENGTH: Final = mark("minimum length")
EXCLUDED_TOKENS: Final = mark("excluded tokens")
EXCLUDED_AT_START: Final = mark("excluded at the start")
REPETITION_PENALTY: Final = mark("repetition penalty")
SOURCE_PREFERENCE: Final = mark("source preference")
NO_INVALID_NUMBERS: Final = mark("no invalid numbers")
SEQUENCE_BIAS: Final = mark("bias on sequences of tokens")
LENGTH_DECAY: Final = mark("length penalty on the end token")
RENORMALIZED: Final = mark("probabilities sum to 1 again")
NO_REPEATED_NGRAMS: Final = mark("no {count} tokens repeated")
NO_SOURCE_NGRAMS: Final = mark("no {count} tokens of the source")
# Not rules of a checkpoint: somebody gave the token.
CHOSEN_BY_YOU: Final = mark("chosen by you")
KEPT: Final = mark("kept from the first text")

FORCED: Final = frozenset({FORCED_FIRST_TOKEN, FORCED_END_TOKEN})  # no search has a choice
BY_USER: Final = frozenset({CHOSEN_BY_YOU, KEPT})
COUNTED: Final = (NO_REPEATED_NGRAMS, NO_SOURCE_NGRAMS)  # their names carry a number
RULES: Final = (
    FORCED
    | BY_USER
    | {
        MINIMUM_LENGTH,
        EXCLUDED_TOKENS,
        EXCLUDED_AT_START,
        REPETITION_PENALTY,
        SOURCE_PREFERENCE,
        NO_INVALID_NUMBERS,
        SEQUENCE_BIAS,
        LENGTH_DECAY,
        RENORMALIZED,
    }
)

BRANCHED_AT: Final = "branched_at"  # the setting that holds the step at which branch() changed the token
DECODER_START = "decoder_start"  # a setting: the token that the decoder was made to read first
