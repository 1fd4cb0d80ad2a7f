"""The parameters page: where a model's numbers are, and what length costs."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**All that a model has learned is a heap of numbers**, its parameters. This picture shows where they are: the larger an
area, the more numbers. Click an area to open it, as you would a folder; the path below it leads back.

The hatched area is used in two or three places at once. It is one and the same table, so it is counted once.

**Try it:** which area is the largest, the dictionary or the layers? Choose a larger model and look again.
"""),
    intermediate=mark(r"""
**An area is a number of parameters.** Layers stand side by side, in each its sublayers from top to bottom:
self-attention, cross-attention, feed-forward. For a width $d$ and a feed-forward width of $4d$, biases and norms aside:

$$\underbrace{4 d^2}_{Q, K, V, O} + \underbrace{8 d^2}_{\text{feed-forward}} = 12 d^2 \text{ in an encoder layer}$$

**Counted once.** BART looks up its input words in one matrix, its output words in the same one, and compares its last
state with it to choose the next word. Programs that add up "encoder", "decoder" and "embeddings" count that matrix
several times. It is hatched, and says where it is used.

**From the configuration alone.** Every name, shape and tie follows from a few numbers in config.json; no weights are
loaded. *Is it true?* compares with the model as transformers builds it.

**What length costs.** Most work grows with the length $n$ of the text in tokens; scores and weighted sums grow with
$n^2$. Keeping the weights of all heads costs layers × heads × $n^2$ numbers.
"""),
    expert=mark(r"""
**Operations.** One multiply-add is one product and one sum, 2 FLOPs. Counted are the matrix products, masked cells
included, as torch counts them; softmax, norms and activations are left out. For one encoder layer, $n$ tokens:

$$\underbrace{4 n d^2}_{\text{projections}} + \underbrace{8 n d^2}_{\text{feed-forward}} +
\underbrace{2 n^2 d}_{QK^\top \text{ and } \alpha V}$$

So $QK^\top$ and the sums overtake the feed-forward part only at $n = 4d$.

**Memory.** Activations are an estimate (within a fifth of what torch holds) of one pass without gradients and with a
fused attention kernel, which never holds the $n \times n$ weights. bartviz keeps queries and keys instead,
layers × $2n$ × width, and computes a head when you look at it. The cache of a decoder is $2 \times$ layers $\times n$
$\times$ width, for its own keys and values and again for those of the source.

**Ties differ between families:** BART and the first T5 use one matrix for both sides' inputs and for the output; T5 1.1
leaves the output apart; BERT ties its masked-word head; ALBERT uses one layer's parameters in all its layers.

Sources: Press and Wolf 2017 (tied weights); Vaswani et al. 2017, table 1; Kaplan et al. 2020, table 1 (operations).
"""),
    terms=(
        "parameters",
        "configuration",
        "embedding",
        "tied weights",
        "layer",
        "width",
        "feed-forward",
        "GELU",
        "residual",
        "LayerNorm",
        "multiply-add",
        "cache",
        "checkpoint",
    ),
    code="""
import bartviz
from bartviz.analysis.costs import Costs

table = bartviz.parameters("facebook/bart-base")  # from the configuration alone: no weights are loaded
print(table.groupby("component")["count"].sum())
print(table["count"].sum())
costs = Costs("facebook/bart-base")
print(costs.operations(512))
print(costs.memory(512))
""",
)
