"""The decoding page: how each word is chosen."""

from __future__ import annotations

from bartviz.language import mark
from bartviz.teaching.explanations import Explanation

EXPLANATION = Explanation(
    beginner=mark(r"""
**The model writes one word after another.** Each time it reads what is there so far and bets on what comes next: the
bars are its bets. Unless you ask for another way under *Decoding* in the sidebar, the longest bar is written down, and
the game begins again with one word more.

The shaded words are where it looked before it bet.

**Try it:** press play. Then stop where two bars are nearly equal, click the second one, and the model writes another
ending from there.
"""),
    intermediate=mark(r"""
**A step is a row.** The decoder reads the tokens that it has so far and gives every token of its vocabulary a
probability; the best one is written down and read at the next step. Row $t$ **reads** token $t$ and **predicts** token
$t + 1$: the same row of weights can be named by either, and an alignment is right only for the token that is predicted.

**Shading** is the share of attention that this step gives to a token: over the source (cross-attention, violet) and
over the output so far (the decoder's own attention, vermilion). Rows sum to 1. Weight on `<s>` and `</s>` is normal.

**Candidates** show probabilities from the raw logits, before any rule. Where a rule decided (a forced token, a minimum
length, a blocked repetition) it is named, and its bar is hatched in the film.

**What if it had said ...** Click a candidate, or type a word, and the model writes the text again from there. The
second film strip is that branch: pale where both say the same. Its log p beside the first one's says which whole text
the model holds for more probable.

**How sure:** probabilities of the steps multiply, so their logarithms add up; entropy says how many bits of choice were
left: 0 when one token has it all, 1 when two are even.

$$\log p(y \mid x) = \sum_t \log p(y_t \mid y_{<t}, x), \qquad H_t = -\sum_w p_t(w) \log_2 p_t(w)$$

**Unsure:** where the geometric mean of the probabilities, $e^{\log p / T}$, is below 0.75, a line beside the output
says so and names the least sure words. Tokens that a rule decided do not count. It is a rule of thumb: a model can be
sure and wrong, and unsure and right.

Attention shows where a step looked, not why the token was chosen.
"""),
    expert=mark(r"""
**Search.** Greedy search takes $\arg\max_w p_t(w)$ and may miss the likeliest text. Beam search keeps $B$ unfinished
texts and ranks finished ones by their log-probability over a power of the length; sampling draws from the logits after
temperature, top-k and top-p, in this order:

$$\mathrm{score}(y) = \frac{\log p(y \mid x)}{|y|^{\alpha}}, \qquad p_T(w) \propto e^{z_w / T}$$

Rules and penalties are those of `generate()`, and so are the tokens; probabilities are told from the raw logits, so a
step that a rule decided can show a chosen token of small probability. Numbers of beam scores count the rules in.

**The cache:** the encoder runs once. Its keys and values for cross-attention are computed at the first step; after that
each step computes one new row and reuses everything else. The rows so collected equal those of one pass over the
finished output, up to rounding. Operations count multiplications and additions of the decoder's attention in the
whole model, not of the feed-forward layers.

**Comparing log p** is fair between texts of the same source; longer texts have more factors below 1. A branch is given
its changed token: its log p counts what the model gave to it.

Sources: Sutskever et al. 2014 (beams); Wu et al. 2016, section 7 (length); Holtzman et al. 2020 (top-p); Fan et al.
2018 (top-k).
"""),
    terms=(
        "step",
        "token",
        "candidate",
        "probability",
        "logits",
        "log-probability",
        "entropy",
        "greedy",
        "beam",
        "length penalty",
        "sampling",
        "temperature",
        "top-k",
        "top-p",
        "branch",
        "cache",
    ),
    code="""
import bartviz

model = bartviz.load("bart-tiny-en-de")
record = bartviz.decode(model, "I want to buy a car.")
for step in record.steps:
    print(step.position, step.chosen.label, round(step.chosen.probability, 3), round(step.entropy, 2), "bits")
other = bartviz.branch(model, record, 3, record.steps[3].candidates[1].token_id)  # the second best there, then on
print(other.target_text)
four = bartviz.decode(model, "I want to buy a car.", beams=4)
print(four.target_text, four.beams.nodes[four.beams.best].score)
drawn = bartviz.decode(model, "I want to buy a car.", sample=bartviz.Sampling(temperature=0.8, top_p=0.9, seed=1))
""",
)
