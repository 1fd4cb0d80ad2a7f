"""The models page: layers as bars, a table of what differs, what each family was trained to do."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark("""
**A bar is a layer.** Bars to the left belong to the encoder, which reads a text; bars to the right to the decoder,
which writes one. BERT has only the left side, GPT-2 only the right one, BART and T5 have both. The longer a bar, the
more numbers stand for each word.

**The violet part** is where a decoder looks at what was read. Only models with both sides have it.
"""),
    intermediate=mark("""
**Where a cell comes from.** The small sign says it: *c* is read from the model's configuration, *=* is computed from
it, *f* is how the library builds this family, *p* is what the paper says. Rows in which all models agree are quieter.

**Post-norm and pre-norm.** With $f$ a sublayer (attention or feed-forward), BERT and BART compute the first, T5 and
GPT-2 the second, and then need one more LayerNorm after the last layer:

$$x' = \\mathrm{LN}(x + f(x)) \\qquad\\text{or}\\qquad x' = x + f(\\mathrm{LN}(x))$$

**What each learned to do** takes your text and shows what the model would read and what it would have to predict. The
choice of words is random: another seed, other words.
"""),
    expert=mark("""
**Counted once.** A matrix that is used in several places counts once: BART's embedding serves the encoder, the
decoder and the output layer. Shares are shares of that total; position tables and LayerNorms of the embeddings count
as embeddings.

**Objectives on words.** The drawing hides whole words; BERT masks word pieces (80 % become [MASK], 10 % another
piece, 10 % stay), BART draws span lengths from Poisson(3), T5 hides spans of three tokens on average, Pegasus chooses
sentences by ROUGE-1 F1 against the rest, for which the share of common words stands here. T5 1.1 was trained on spans
alone, without the tasks and their prefixes.

**Memory** counts the weights of all heads in float32, **operations** the matrix products of one pass over 512 tokens,
or over the longest text that the model reads (Vaswani et al. 2017; Kaplan et al. 2020 for counting).
"""),
    terms=(
        "encoder",
        "decoder",
        "layer",
        "cross-attention",
        "feed-forward",
        "parameters",
        "tied weights",
        "position",
        "vocabulary",
    ),
    code="""
from bartviz.analysis.objectives import objectives
from bartviz.analysis.model_table import tables

print(tables(["facebook/bart-base", "t5-base"]).to_string())
for example in objectives("The cat sat on the mat.", seed=1):
    print(example.title, "|", example.reads, "->", example.predicts)
""",
)
