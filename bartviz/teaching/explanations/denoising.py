"""The denoising page: a damaged text and its repair."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**A game with gaps.** In the first line stands a text. In the second, words were hidden, taken out, or put in another
order. The third is what the model makes of it: it was trained by playing this game over and over.

The number under a word says how sure the model was. A word that would fit as well still counts as wrong if it is not
the one that stood there.

**Try it:** raise the share of lost words. From where on does it only guess?
"""),
    intermediate=mark(r"""
**BART was trained to undo damage** (Lewis et al. 2020): a text is corrupted by one of five noise functions, the encoder
reads what is left, and the decoder must write the original.

- **Token masking** replaces single words by a mask, as in BERT. **Token deletion** leaves no trace: the model must find
  the place too. **Text infilling** replaces a whole span, of a length drawn from Poisson(3), by *one* mask; a span of
  length 0 puts a mask where nothing is missing. **Sentence permutation** shuffles the sentences. **Document rotation**
  lets the text begin at another word.
- Here as in this model's training words are lost, not tokens, and the corrupted text is tokenized again.

**The third line** is what the model writes by itself, always taking the likeliest token. The number under a word is the
product of the probabilities of its tokens.

**Accuracy and loss** are measured under *teacher forcing*: after the true tokens $y^*$, which token is the best guess,
and how likely was the right one?

$$\mathrm{loss} = -\frac{1}{T} \sum_t \log p(y^*_t \mid y^*_{<t}, \tilde{x})$$

**BERT** fills each mask with one token and sees both sides of it, all masks at once. **BART** writes the whole text
from left to right, and may put any number of words for a mask.
"""),
    expert=mark(r"""
**What is counted.** Loss is in nats a token. The first token, which begins every text, is left out; the end token
counts. Most tokens only need copying, so look at the lost ones by themselves: accuracy over all tokens says little.

**Infilling** draws span lengths $\ell \sim \mathrm{Poisson}(3)$ until the share of words is spent, the last one cut
to fit; between two spans at least one word stays. The probability of $\ell = 0$ is $e^{-3} \approx 0.05$.

**Differences from the paper.** It corrupts tokens, 30 % of them, and combines infilling with sentence permutation for
its large model; here each function stands alone, on words, at its own share. The shipped model is tiny and learned from
short everyday sentences (Tatoeba) and from Grimm's tales: its numbers show how the objective works, not how well BART
does.

**BERT's guess** for several masks takes each one alone, given the other masks, $p(w_i \mid \tilde{x})$: it is no joint
probability of what fills them. BERT's own training left a tenth of the chosen words as they were and put random words
for another tenth (Devlin et al. 2019, section 3.1).
"""),
    terms=(
        "noise function",
        "token masking",
        "token deletion",
        "text infilling",
        "sentence permutation",
        "document rotation",
        "mask token",
        "encoder",
        "decoder",
        "teacher forcing",
        "loss",
        "accuracy",
        "probability",
    ),
    code="""
import bartviz
from bartviz.experiments.repair import guesses, repair

model = bartviz.load("bart-tiny-denoise")
found = repair(model, "A man is playing a guitar on the street.", "text infilling", rate=0.3, seed=1)
print(found.noised.text)
print(found.written.target_text)
print(found.score.right.mean(), -found.score.log_probability.mean())  # accuracy and loss, teacher-forced
bert = bartviz.load("bert-tiny-en")
print(guesses(bert, "A man is playing a <mask>."))
""",
)
