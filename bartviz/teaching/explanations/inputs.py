"""The inputs page: from text to pieces, ids and the first vectors."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A model reads no letters.** A program called the tokenizer cuts the text into pieces that stand in a long list, the
vocabulary. Each piece has a number there, and these numbers are all that the model is told. A frequent word is one
piece; a rare one is put together from several, like a word laid with tiles.

For each number the model then looks up a vector, and adds another one that says at which place the piece stands.

**Try it:** type a long or an invented word in the sidebar and press **Run**. Into how many pieces is it cut?
"""),
    intermediate=mark(r"""
**Pieces and ids.** Byte-level BPE (BART, GPT-2) builds pieces out of bytes, so it can write everything, an emoji as
four pieces or more. WordPiece (BERT) builds them out of letters; a letter that it never saw makes a whole word
*unknown*. Special tokens mark beginning and end, or, in a pair, where one sentence ends.

**What is summed.** Each id picks a row of the embedding matrix $E$. BERT adds a row of $P$ for the *position* and one
of $S$ for the *segment* (which sentence of a pair); BART and GPT-2 add a position only. T5 adds nothing: a bias of the
scores says how far two tokens are apart.

$$x_i = \mathrm{LayerNorm}\left(E_{\mathrm{id}_i} + P_i + S_{\mathrm{seg}_i}\right)$$

BERT and BART normalise the sum (LayerNorm); GPT-2 and T5 leave that to their layers. Lengths do not add up like
numbers, since vectors may point apart; the shares in the table do.

**Positions.** *Attention is all you need* (section 3.5) writes a position as sines and cosines of many wavelengths, so
that moving on by $k$ places is the same rotation everywhere. A learned table need not be like that.
"""),
    expert=mark(r"""
**Shares.** The share of a part $u$ in the sum $x$ (before LayerNorm) is its projection on it; shares add up to 1, and
one may be negative where a part points against the sum:

$$\frac{u \cdot x}{\lVert x \rVert^2}, \qquad x = \sum_u u$$

**Sines and cosines**, and what a shift does to each pair of them ($\omega_m = 10000^{-2m/d}$):

$$P_{i,2m} = \sin \omega_m i, \quad P_{i,2m+1} = \cos \omega_m i, \qquad
\begin{pmatrix} \sin \omega_m (i+k) \\ \cos \omega_m (i+k) \end{pmatrix} =
\begin{pmatrix} \cos \omega_m k & \sin \omega_m k \\ -\sin \omega_m k & \cos \omega_m k \end{pmatrix}
\begin{pmatrix} \sin \omega_m i \\ \cos \omega_m i \end{pmatrix}$$

The map for a shift of the learned table is fitted to every second position by least squares and judged on the others;
with as many dimensions as positions a fit to all of them would look perfect and mean nothing. The same fit to the
sinusoidal table is drawn as a control.

**Oddities.** BART's first position is row 2 of its table, a remainder of how padding was once stored. Marian and some
BART models multiply token embeddings by $\sqrt{d}$ before they add. ELECTRA and ALBERT may look up narrow vectors and
project them to the model's width.

Sources: Sennrich et al. 2016 (BPE); Wu et al. 2016 (WordPiece); Kudo and Richardson 2018 (SentencePiece); Devlin et al.
2019 (segments); Raffel et al. 2020 (relative bias).
"""),
    terms=(
        "token",
        "piece",
        "id",
        "vocabulary",
        "tokenizer",
        "special token",
        "unknown token",
        "BPE",
        "WordPiece",
        "SentencePiece",
        "vector",
        "embedding",
        "position",
        "segment",
        "LayerNorm",
    ),
    code="""
import bartviz
from bartviz.analysis.inputs import norms
from bartviz.experiments.embeddings import inputs

model = bartviz.load("bert-tiny-en")
record = bartviz.capture(model, "A man is sleeping.")
parts = inputs(model, record)  # the vectors that are summed, (tokens, width) each
print(record.source.pieces, record.source.ids)
print({name: lengths.round(2) for name, lengths in norms(parts).items()})
print(abs(parts.entered - parts.own).max())  # rebuilt here, against the model's own first hidden state
""",
)
