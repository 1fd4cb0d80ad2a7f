"""Lines 32 to 34: bytes and operations against the length of the text."""

from __future__ import annotations

from bartviz.analysis.article_models import BART, BART_LARGE, BERT, read, total
from bartviz.analysis.costs import Costs
from bartviz.features.textbook.judging import (
    CONFIGURATION,
    NEARLY,
    Between,
    Claim,
    Evidence,
    Number,
    Verdict,
    above,
    at_most,
    below,
    yes,
)
from bartviz.language import later

BASIS = later(CONFIGURATION)
FLOAT = 4  # bytes of a number in float32


def _bytes(_evidence: Evidence) -> Verdict:
    memory = Costs(BERT).memory(512)
    layer = memory.attention // 12
    numbers = (
        Number(later("bytes of one layer, 12 × 512 × 512 × 4"), 12_600_000, layer, within=NEARLY),
        Number(later("bytes of 12 layers"), 150_000_000, memory.attention, within=NEARLY),
    )
    why = later(
        "{layer:.1f} MB and {all:.0f} MB, if the weights of all layers are stored. Their queries and keys, "
        "from which any head can be computed on demand, take {kept:.0f} MB.",
        layer=layer / 1e6,
        all=memory.attention / 1e6,
        kept=memory.captured / 1e6,
    )
    return Verdict(numbers, why, BASIS)


def _comparable(_evidence: Evidence) -> Verdict:
    costs = Costs(BERT)
    crossing, (short, long) = costs.crossing(), (ratios(costs, length) for length in (128, 512))
    numbers = (
        _similar(later("attention with its projections ÷ feed-forward, n = 128"), short[1]),
        _similar(later("attention with its projections ÷ feed-forward, n = 512"), long[1]),
        _similar(later("what grows with n² ÷ feed-forward, n = 128"), short[0], core=False),
        _similar(later("what grows with n² ÷ feed-forward, n = 512"), long[0], core=False),
        _equal_by_512(later("equal from n, with the projections"), crossing.attention),
        _equal_by_512(later("equal from n, what grows with n² alone"), crossing.scores),
    )
    why = later(
        "What grows with n squared costs {a:.1%} to {b:.0%} of the feed-forward layers, and as much only at "
        "n = {scores:,.0f}. With the four projections it is {c:.0%} to {d:.0%}, and as much at n = {attention:,.0f}.",
        a=short[0],
        b=long[0],
        scores=crossing.scores,
        c=short[1],
        d=long[1],
        attention=crossing.attention,
    )
    return Verdict(numbers, why, BASIS)


def _similar(what: str, ratio: float, *, core: bool = True) -> Number:
    return Number(what, Between(0.5, 2), ratio, core=core)


def _equal_by_512(what: str, length: float) -> Number:
    return Number(what, at_most(512), round(length), core=False)


def ratios(costs: Costs, length: int) -> tuple[float, float]:
    """Operations of the scores, and of the whole attention, over those of the feed-forward layers."""
    found = costs.curve([length]).iloc[0]
    scores = found["scores"] + found["weighted sums"]
    return float(scores / found["feed-forward"]), float((scores + found["projections"]) / found["feed-forward"])


def _width(_evidence: Evidence) -> Verdict:
    def attention(width: int) -> tuple[int, int]:
        changed = read(BERT, hidden_size=width, num_attention_heads=width // 64, intermediate_size=4 * width)
        parts = Costs(changed).operations(512).groupby("part")["multiply_adds"].sum()
        return int(parts["projections"]), int(parts["scores"] + parts["weighted sums"])

    (projections, scores), (wide_projections, wide_scores) = attention(768), attention(1536)
    whole = (wide_projections + wide_scores) / (projections + scores)
    numbers = (
        Number(later("width doubled, n = 512: attention with its projections"), 4, whole, within=NEARLY),
        Number(later("the projections"), 4, wide_projections / projections),
        Number(later("scores and weighted sums"), 4, wide_scores / scores, core=False),
    )
    why = later(
        "The projections grow with the square of the width, the scores only in proportion to it: twice as wide "
        "costs {whole:.1f} times at n = 512, and less the longer the text.",
        whole=whole,
    )
    return Verdict(numbers, why, BASIS)


def _memory(_evidence: Evidence) -> Verdict:
    costs = Costs(BERT)
    short, long = costs.memory(256), costs.memory(512)
    weights = long.attention / short.attention
    working = long.activations / short.activations
    numbers = (
        Number(later("n doubled to 512: weights of all heads"), 4, weights),
        Number(later("activations with a fused kernel"), 4, working, core=False, within=NEARLY),
        Number(
            later("of 512 tokens: weights of all heads ÷ parameters"),
            above(1),
            long.attention / long.weights,
            core=False,
        ),
    )
    why = later(
        "The n × n weights do, if they are stored. A fused kernel never stores them: then the memory of a "
        "pass grows {times:.1f} times when n doubles, and up to 512 tokens the parameters are the larger "
        "part anyway.",
        times=working,
    )
    return Verdict(numbers, why, BASIS)


def _decoding(_evidence: Evidence) -> Verdict:
    steps = Costs(BART).generation(128, 512).set_index("position")
    cached, uncached = (float(steps[column].loc[512] / steps[column].loc[64]) for column in ("cached", "uncached"))
    ratio = float(steps["uncached"].sum() / steps["cached"].sum())
    numbers = (
        Number(later("t from 64 to 512: growth of a step with a cache"), 8, cached, within=NEARLY),
        Number(later("t from 64 to 512: growth of a step without"), 64, uncached, within=NEARLY),
        Number(later("growth with a cache is less than without"), below(uncached), cached, core=False),
    )
    why = later(
        "The directions are right, but not the proportions: most of a step does not depend on t, or only "
        "linearly. BART base, 128 source tokens, step 512 against step 64 (8 times t): {cached:.2f} times "
        "with a cache, {uncached:.1f} times without. All 512 steps together cost {ratio:,.0f} times as much "
        "without a cache.",
        cached=cached,
        uncached=uncached,
        ratio=ratio,
    )
    return Verdict(numbers, why, BASIS)


def _deeper(_evidence: Evidence) -> Verdict:
    def layers(count: int) -> tuple[int, int]:
        """Multiply-adds at n = 512, and bytes of the weights of all heads."""
        costs = Costs(read(BERT, num_hidden_layers=count))
        return int(costs.operations(512)["multiply_adds"].sum()), costs.memory(512).attention

    (work, held), (more_work, more_held) = layers(12), layers(24)
    numbers = (
        Number(later("BERT base with 24 layers, not 12, n = 512: multiply-adds"), 2, more_work / work, within=NEARLY),
        Number(later("bytes of the weights of all heads"), 2, more_held / held),
    )
    why = later(
        "All layers have the same size, so twice as many compute and store twice as much; embeddings do not "
        "grow with them and are only looked up."
    )
    return Verdict(numbers, why, BASIS)


def _fine_tuning(_evidence: Evidence) -> Verdict:
    parameters = total(BART_LARGE)
    state, card, smaller = 4 * FLOAT * parameters, 16e9, 8e9  # weights, gradients, two moments of Adam
    numbers = (
        Number(later("weights, gradients and Adam's two moments in float32: bytes"), below(int(card)), state),
        Number(later("they alone fill a GPU of 8 GB"), yes(True), yes(state > smaller), core=False),
    )
    why = later(
        "BART large needs {state:.1f} GB before the first text; the other {rest:.1f} GB are for activations, which "
        "grow with batch and length. So 16 GB are comfortable, and with small batches fewer do.",
        state=state / 1e9,
        rest=(card - state) / 1e9,
    )
    return Verdict(numbers, why, BASIS)


CLAIMS: tuple[Claim, ...] = (
    Claim("32", "cost", ("bert chapter",), "parameters", {"of": BERT, "n": "512"}, _bytes),
    Claim("33", "cost", ("bert chapter",), "parameters", {"of": BERT, "n": "512"}, _comparable),
    Claim("33b", "cost", ("bert chapter",), "parameters", {"of": BERT, "n": "512"}, _width),
    Claim("34", "cost", ("bert chapter",), "parameters", {"of": BERT, "n": "512"}, _memory),
    Claim("34c", "cost", ("bart chapter",), "parameters", {"of": BART_LARGE}, _fine_tuning),
    Claim("34d", "cost", ("bert chapter",), "parameters", {"of": BERT, "n": "512"}, _deeper),
    Claim("34b", "cost", ("none",), "parameters", {"of": BART, "n": "512"}, _decoding),
)
