"""The masks page: who may see whom."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A square says who may look at whom.** Each row is a word that looks, each column a word that is looked at. A coloured
cell is open, a hatched one is closed: there the row sees nothing at all.

Who *reads* sees the whole text. Who *writes* must not see what comes next: it would be like a test with the answers
printed beside the questions. So the writer's square is a staircase: each word sees itself and what stands before it.

**Try it:** point at a row. Which words does it see?
"""),
    intermediate=mark(r"""
**Encoder:** every token looks at every token; only padding is closed. **Decoder:** a token looks at itself and at what
came before it. In training all rows are computed at once and the mask keeps the answer hidden; while generating, what
would come later does not exist yet. **Cross:** every row of the decoder looks at the whole source.

**In the formula** a mask is a matrix $M$ that is added to the scores: 0 where a cell is open, a large negative number
where it is closed.

$$\alpha = \mathrm{softmax}\left(\frac{QK^\top}{\sqrt{d}} + M\right), \qquad
M_{ij} = \begin{cases} 0 & \text{open} \\ -\infty & \text{closed} \end{cases}$$

After the softmax its weight is *about* 0, and in the number formats that are used *exactly* 0.

**A row that may look nowhere** still gets weights that sum to 1. They mean nothing; here they are hatched by the mask,
since their values look like any others.

**Row labels** of decoder squares are the tokens that a row *reads*: the mask is about what it may read.
"""),
    expert=mark(r"""
**About 0 and exactly 0.** With a finite number $-c$ the weight of a closed key is $e^{s_{ij} - c - \max_k s_{ik}}$
divided by a sum of at least 1. In 32-bit numbers $e^x$ is 0 below about $x = -104$, so $c = 10^4$ and the least
number of the format give an exact 0, and $c = 10$ does not.

**Where every key of a row is closed** the outcome depends on the number and on its format. In 32-bit numbers -10,000
only shifts all scores, and the softmax gives them back as if nothing were closed. In -1e9 and in the least number of
the format the scores are lost to rounding, and the row comes out even. bfloat16 is so coarse that -10,000 makes a row
even too; float16 has steps of 8 there, so most rows come out even and the others distorted. Minus infinity gives no
number at all (NaN), as does -1e9 in float16, which cannot hold it; kernels that guard against this give zeros.

**How it reaches the model.** Models write their mask as booleans, as an additive matrix, or not at all, with a flag
"causal"; fused kernels take the open cells alone. bartviz keeps the open cells that the layer was given, (Q, K), and
applies them before the softmax as minus infinity, so closed weights are exact zeros (a row in which nothing is open
comes out even, and is hatched).

**One mask for all heads.** The models here share a mask between the heads and layers of a stack. Windows, blocks and
global tokens (Longformer, BigBird) are patterns to look at under *Other patterns*.

Sources: Vaswani et al. 2017, section 3.2.3; Child et al. 2019 and Beltagy et al. 2020 (sparse patterns).
"""),
    terms=("mask", "causal", "bidirectional", "padding", "encoder", "decoder", "cross-attention", "row", "softmax"),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
short, long = bartviz.capture_batch(model, ["A dog.", "A man is buying a car."])  # padded in one pass
print(short.decoder.mask.astype(int))  # (rows, keys): the staircase
print(short.encoder.mask[0].astype(int))  # 0 where padding is closed
print(short.encoder.head(0, 0)[:, ~short.encoder.mask[0]].max())  # the largest weight on padding: exactly 0
""",
)
