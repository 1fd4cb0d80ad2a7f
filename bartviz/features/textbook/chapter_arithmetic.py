"""Lines 12 to 18: the arithmetic of attention, of the activation, and of the sums around them."""

from __future__ import annotations

import numpy as np

from bartviz.analysis import activations, parameter_totals
from bartviz.analysis.article_models import BART, BERT, GPT2, T5, TITLES, encoder, layer, read, rows, sizes_of
from bartviz.analysis.costs import Costs
from bartviz.analysis.scaling import scaling
from bartviz.arrays import Floats
from bartviz.families.registry import FAMILIES
from bartviz.features.textbook.judging import (
    CONFIGURATION,
    NEARLY,
    WORDS_RECORD,
    Claim,
    Evidence,
    Number,
    Share,
    Verdict,
    above,
    below,
    yes,
)
from bartviz.language import later
from bartviz.record.attention import Attention
from bartviz.record.softmax import softmax

DRAWS, WIDTH, KEYS = 2048, 64, 512  # random vectors, as wide as a head; keys per row
CLOSE = 1e-5  # how far a number of float32 may be from the exact one
DRAWN = later("random vectors, seed 0")
DISTANCE = 12  # steps between the words of the article's sentence
DRAWN_STATES = later("a recurrent network {width} wide with random weights and inputs, seed 0", width=WIDTH)


def _attention(evidence: Evidence) -> Verdict:
    record, basis, _deep = evidence.written()
    attention = record.attention("encoder")
    layers, heads, rows, _columns = attention.shape
    weights = np.stack([attention.layer(index) for index in range(layers)])  # (L, H, Q, K)
    off = float(np.abs(weights.sum(-1) - 1).max())
    flat = weights.reshape(layers * heads, rows, -1)
    apart = [np.abs(flat[one] - flat[one + 1 :]).max(axis=(1, 2)).min() for one in range(len(flat) - 1)]
    nearest = float(min(apart, default=0.0))
    joined = heads * (attention.queries.shape[3] if attention.v is None else attention.v.shape[3])
    numbers = (
        Number(later("largest distance of a row's sum from 1"), 0, off, within=CLOSE),
        Number(later("two heads: smallest of their largest differences"), above(0.01), nearest),
        Number(later("concatenated heads are as wide as the model"), record.model.width, joined, core=False),
    )
    why = later(
        "In all {heads} encoder heads rows sum to 1 up to {off:.0e}; the two heads that are most alike still differ by "
        "{nearest:.3f} in a weight.",
        heads=layers * heads,
        off=off,
        nearest=nearest,
    )
    return Verdict(numbers, why, basis)


def _unscaled(evidence: Evidence) -> Verdict:
    record, basis, _deep = evidence.written()
    attention = record.attention("encoder")
    heads, rows = attention.shape[1], attention.shape[1] * attention.shape[2]
    weights = attention.layer(attention.shape[0] - 1)  # (H, Q, K)
    plain = np.stack([softmax(_dots(attention, head)) for head in range(heads)])
    order = int((plain.argmax(-1) == weights.argmax(-1)).sum())
    apart = float(np.abs(plain - weights).max())
    largest = float(weights.max(-1).mean()), float(plain.max(-1).mean())
    numbers = (
        Number(later("last encoder layer: largest difference of a weight"), 0, apart, within=CLOSE),
        Number(later("mean largest weight of a row"), largest[0], largest[1], core=False, within=CLOSE),
        Number(later("rows with the same strongest key"), rows, order, core=False),
    )
    families = ", ".join(family.title for family in FAMILIES.values() if family.positions == "relative")
    if apart <= CLOSE:
        why = later("True of this model. Of the families here {families} leave the division out.", families=families)
        return Verdict(numbers, why, basis)
    why = later(
        "Leaving the division out changes the weights, not their order: the largest of a row is {scaled:.2f} as the "
        "model computes it and {plain:.2f} without a division. Of the families here {families} leave it out.",
        scaled=largest[0],
        plain=largest[1],
        families=families,
    )
    return Verdict(numbers, why, basis)


def _dots(attention: Attention, head: int) -> Floats:
    """(Q, K) scores of the last layer without the division."""
    dots = attention.queries[-1, head] @ attention.keys[-1, head].T
    bias = attention.bias_of(-1)
    return np.asarray(dots if bias is None else dots + bias[head], np.float32)


def _additive(_evidence: Evidence) -> Verdict:
    n, width = KEYS, WIDTH
    dot, added = n * n, n * n * width  # numbers held: the scores; tanh(W q + U k) of every pair before it is summed up
    products = n * n * width, n * n * width + 2 * n * width * width  # the latter with the two projections
    numbers = (
        Number(later("n = 512, 64 wide: numbers stored for one head"), below(added), dot),
        Number(later("multiply-adds, those of tanh not counted"), below(products[1]), products[0]),
    )
    why = later(
        "Additive attention passes every pair of query and key through a small network: {times} times the "
        "numbers, where one matrix product is enough.",
        times=added // dot,
    )
    return Verdict(numbers, why, later("counted in closed form"))


def _narrow(_evidence: Evidence) -> Verdict:
    one = parameter_totals.total(rows(BERT, num_attention_heads=1))
    wide, narrow = (
        int(Costs(read(BERT, num_attention_heads=heads)).operations(512)["multiply_adds"].sum()) for heads in (1, 12)
    )
    numbers = (
        Number(
            later("BERT base: a head's width against the model's"),
            below(sizes_of(BERT).width),
            encoder(BERT).head_width,
        ),
        Number(later("parameters with one head of 768 and with 12 of 64"), one, parameter_totals.total(rows(BERT))),
        Number(later("multiply-adds at n = 512 with one head and with 12"), wide, narrow),
    )
    why = later(
        "Twelve heads of 64 cost exactly as much as one of 768; only the number of weights grows, 12 squares "
        "instead of one."
    )
    return Verdict(numbers, why, later(CONFIGURATION))


def _variance(evidence: Evidence) -> Verdict:
    random = np.random.default_rng(0)
    q, k = random.standard_normal((DRAWS, WIDTH)), random.standard_normal((KEYS, WIDTH))
    dots = q @ k.T  # (DRAWS, KEYS)
    plain, scaled = (softmax(np.array(scores, np.float32)).max(axis=1).mean() for scores in (dots, dots / 8))
    record, basis = evidence.shipped(WORDS_RECORD)
    model = [scaling(record.attention("encoder"), index) for index in range(record.model.encoder_layers)]
    raw = [max(one.model.scores.var(), one.other.scores.var()) for one in model]
    width = model[0].width
    farthest = max(raw, key=lambda variance: abs(variance - width))
    numbers = (
        Number(later("64 wide, variance 1: variance of q · k"), 64, float(dots.var()), within=NEARLY),
        Number(later("after division by 8"), 1, float((dots / 8).var()), within=NEARLY),
        Number(
            later("share of products beyond ±8: easily reached"), above(Share(0.1)), Share((np.abs(dots) > 8).mean())
        ),
        Number(later("largest of 512 weights without the division: nearly one-hot"), above(0.5), float(plain)),
        Number(later("largest of 512 weights with it"), below(0.1), float(scaled)),
        Number(
            later("trained heads {width} wide, the layer farthest from that: variance of q · k", width=width),
            width,
            float(farthest),
            core=False,
            within=NEARLY,
        ),
    )
    why = later(
        "True of numbers with variance 1. Trained queries and keys need not have it: the layers of {model} have {raw} "
        "where {width} is expected.",
        model=record.model.name,
        width=width,
        raw=", ".join(f"{variance:.0f}" for variance in raw),
    )
    return Verdict(numbers, why, later("{first}; {second}", first=DRAWN, second=basis))


def _unit(_evidence: Evidence) -> Verdict:
    random = np.random.default_rng(0)
    q, k = random.standard_normal((DRAWS, WIDTH)), random.standard_normal((KEYS, WIDTH))
    unit = [side / np.linalg.norm(side, axis=1, keepdims=True) for side in (q, k)]
    length, variance = float(np.linalg.norm(q, axis=1).mean()), float((unit[0] @ unit[1].T).var())
    numbers = (
        Number(later("length of a vector of 64 numbers with variance 1"), 1, length, within=NEARLY),
        Number(later("unit vectors, 64 wide: variance of the product"), 64, variance, within=NEARLY),
    )
    why = later(
        "Unit vectors have products between -1 and 1, with variance 1/64; a variance of 64 needs vectors "
        "whose components have variance 1, which are about {length:.0f} long.",
        length=length,
    )
    return Verdict(numbers, why, DRAWN)


def _cosine(evidence: Evidence) -> Verdict:
    record, basis, _deep = evidence.written()
    attention = record.attention("encoder")
    layers, heads, rows, _columns = attention.shape
    cosine = dot = 0
    ratio = []
    for index, head in np.ndindex(layers, heads):
        q, k, weights = attention.queries[index, head], attention.keys[index, head], attention.head(index, head)
        alike = (q @ k.T) / np.linalg.norm(q, axis=1)[:, None] / np.linalg.norm(k, axis=1)  # (Q, K)
        cosine += int((alike.argmax(1) == weights.argmax(1)).sum())
        dot += int((attention.scores(index, head).argmax(1) == weights.argmax(1)).sum())
        ratio.append((alike < 0).mean())
    every = layers * heads * rows
    numbers = (
        Number(later("rows whose strongest key is the one with the largest cosine"), every, cosine),
        Number(later("rows whose strongest key is the one with the largest dot product"), every, dot, core=False),
        Number(later("share of cosines below 0, where no weight can be proportional"), Share(0), Share(np.mean(ratio))),
    )
    why = later(
        "They grow with exp(q · k), so a long key wins over a better aligned one: in {off:,} of {every:,} rows the "
        "largest cosine is not the largest weight, while the dot product always is.",
        off=every - cosine,
        every=every,
    )
    return Verdict(numbers, why, basis)


def _gelu(_evidence: Evidence) -> Verdict:
    x = np.array([-5.0, -0.1, 1.0, 5.0])
    low, minus, one, high = (float(value) for value in activations.gelu(x))
    numbers = (
        Number(later("GELU(1) = 1 · Φ(1)"), 0.8413, one, within=5e-5),
        Number(later("GELU(5), where Φ is about 1"), 5, high, within=1e-4),
        Number(later("GELU(-5), where Φ is about 0"), 0, low, within=1e-4),
        Number(later("GELU(-0.1): a small negative input passes"), below(0), minus),
        Number(later("ReLU(-0.1): it does not"), 0, float(activations.relu(x)[1])),
    )
    why = later("Smooth where ReLU has a corner; its lowest value is -0.17, at -0.75.")
    return Verdict(numbers, why, later("the formula with the exact error function"))


def _activations(_evidence: Evidence) -> Verdict:
    x = np.linspace(-6, 6, 2401)
    apart = float(np.abs(activations.gelu(x) - activations.gelu_tanh(x)).max())
    wanted = {BART: "GELU", BERT: "GELU", GPT2: "GELU", T5: "ReLU"}
    numbers = []
    for name, claimed in wanted.items():
        title = activations.CURVES[sizes_of(name).activation][0]
        label = later("{model}: activation", model=TITLES[name])
        numbers.append(Number(label, claimed, title.split()[0]))
    tanh = Number(later("GPT-2's tanh approximation: largest difference"), 0, apart, within=1e-3)
    why = later("GPT-2 uses the tanh approximation, which differs from GELU by at most {apart:.4f}.", apart=apart)
    return Verdict((*numbers, tanh), why, later(CONFIGURATION))


def _norms(_evidence: Evidence) -> Verdict:
    def count(name: str, side: str) -> int:
        roles = [row.role for row in layer(name, "encoder" if side == "encoder" else "decoder")]
        return sum(role.endswith("layer norm weight") for role in roles)

    numbers = (
        Number(later("BART, an encoder layer: layer norms, one for each of 2 sublayers"), 2, count(BART, "encoder")),
        Number(later("BART, a decoder layer: layer norms, one for each of 3 sublayers"), 3, count(BART, "decoder")),
        *(
            Number(
                later("{model}: norm before or after the sum", model=TITLES[name]), claimed, sizes_of(name).family.norm
            )
            for name, claimed in ((BART, "post"), (BERT, "post"), (T5, "pre"), (GPT2, "pre"))
        ),
    )
    why = later("Counted from the names of the matrices; the position of each norm is given by the family.")
    return Verdict(numbers, why, later(CONFIGURATION))


def _order(_evidence: Evidence) -> Verdict:
    width, n = 16, 7
    q, k, v = np.random.default_rng(0).standard_normal((3, width, n))  # (width, n) each, a column for each token
    rowwise = (softmax((q.T @ k).astype(np.float32)) @ v.T).T  # (width, n): the output of each query
    right = v @ softmax((q.T @ k).astype(np.float32)).T  # softmax over keys, by columns of K'Q
    printed = v @ softmax((q.T @ k).astype(np.float32))
    off, fine = (float(np.abs(one - rowwise).max()) for one in (printed, right))
    numbers = (
        Number(later("as printed: largest error, {n} tokens {width} wide", n=n, width=width), 0, off, within=1e-5),
        Number(later("with Softmax(KᵀQ) by columns: largest error"), 0, fine, core=False, within=CLOSE),
    )
    why = later(
        "With a column for each token the weights of a query must be a column too: V Softmax(KᵀQ). As "
        "printed, queries and keys are swapped."
    )
    return Verdict(numbers, why, DRAWN)


def _plain_projections(_evidence: Evidence) -> Verdict:
    def count(name: str, end: str) -> int:
        return sum(row.elements for row in layer(name, "encoder") if row.role == f"self-attention {end}")

    biases = tuple(
        Number(
            later("{model}, a layer: biases of query, key and value", model=TITLES[name]),
            0,
            sum(count(name, f"{part} bias") for part in ("query", "key", "value")),
            core=name == T5,
        )
        for name in (T5, BART, BERT)
    )
    why = later("True of T5. BART and BERT add a bias to each of the three.")
    return Verdict(biases, why, later(CONFIGURATION))


def _vanishing(_evidence: Evidence) -> Verdict:
    random = np.random.default_rng(0)
    q, k = random.standard_normal((DRAWS, WIDTH)), random.standard_normal((KEYS, WIDTH))
    plain, scaled = (_gradients(softmax((q @ k.T / by).astype(np.float32))) for by in (1, WIDTH**0.5))
    shares = plain / scaled  # (DRAWS,)
    numbers = (
        Number(later("gradient of a row of weights without the division ÷ with it: smaller"), below(1), shares.mean()),
        Number(later("the same: about to vanish"), below(0.1), shares.mean(), core=False),
        Number(later("rows in which it is below a tenth"), above(0), Share((shares < 0.1).mean())),
    )
    why = later(
        "Of {keys} keys, {width} wide with variance 1: the derivatives of a row's weights are on average {mean:.0%} of "
        "what they are with the division, and below a tenth in {few:.0%} of the rows, those that are nearly one-hot.",
        keys=KEYS,
        width=WIDTH,
        mean=float(shares.mean()),
        few=float((shares < 0.1).mean()),
    )
    return Verdict(numbers, why, DRAWN)


def _gradients(weights: Floats) -> Floats:
    """The sum of |dα_i / ds_j| of each row of weights α (Q, K): 2 (1 - Σ α_i²)."""
    found: Floats = 2 * (1 - np.square(weights.astype(float)).sum(axis=1))
    return found


def _forgetting(_evidence: Evidence) -> Verdict:
    start, large = (_reached(times) for times in (1, 3))
    back = later("{steps} steps back: gradient ÷ that one step back", steps=DISTANCE)
    numbers = (
        Number(back, below(0.1), start),
        Number(later("the same with recurrent weights three times as large"), below(0.1), large, core=False),
    )
    why = later(
        "With the weights that training starts from, the gradient {steps} steps back has {start:.2%} of its "
        "length one step back. That depends on the weights and is not a law: with recurrent weights three "
        "times as large it is {large:.1f} times as long. Attention reaches every token in one step.",
        steps=DISTANCE,
        start=start,
        large=large,
    )
    return Verdict(numbers, why, DRAWN_STATES)


def _reached(times: float) -> float:
    """How long the derivative of a recurrent network's last state by the one DISTANCE steps before is, as a part of
    that by the one before: h' = tanh(W h + U x), W and U drawn as torch draws them, W ``times`` as large."""
    random = np.random.default_rng(0)
    handed, read = random.uniform(-1, 1, (2, WIDTH, WIDTH)) / WIDTH**0.5
    handed *= times
    state, steps = np.zeros(WIDTH), []
    for token in random.standard_normal((DISTANCE, WIDTH)):
        state = np.tanh(handed @ state + read @ token)
        steps.append((1 - state**2)[:, None] * handed)  # of this state by the one before
    whole = np.linalg.multi_dot(steps[::-1])
    return float(np.linalg.norm(whole) / np.linalg.norm(steps[-1]))


def _far_input(_evidence: Evidence) -> Verdict:
    width = sizes_of(BERT).width
    rest = np.random.default_rng(0).standard_normal(width)
    inputs = np.concatenate([np.linspace(-50, 50, 401), [1e6]])
    states = np.tile(rest, (len(inputs), 1))
    states[:, 0] = inputs
    out = (states - states.mean(1, keepdims=True)) / states.std(1, keepdims=True)  # (402, width)
    limit = float(np.sqrt(width - 1))
    rises = bool((np.diff(out[:, 0]) > 0).all())
    other = float(np.abs(out[-1, 1:]).max())
    numbers = (
        Number(later("one number rises, the others stay: its output rises too"), yes(True), yes(rises)),
        Number(
            later("its output at a million, of {width} numbers", width=width), limit, float(out[-1, 0]), within=1e-3
        ),
        Number(
            later("the largest of the others then"), float(np.abs(out[200, 1:]).max()), other, core=False, within=NEARLY
        ),
    )
    why = later(
        "True of a single number: it approaches √(d − 1) = {limit:.3f}. But LayerNorm is not a function of "
        "one number: while that one grows, all others shrink to about 0.",
        limit=limit,
    )
    return Verdict(numbers, why, DRAWN)


def _parallel(_evidence: Evidence) -> Verdict:
    n, width = KEYS, sizes_of(BERT).width
    attention, recurrent = 4 * n * width**2 + 2 * n * n * width, 2 * n * width**2
    numbers = (
        Number(later("{n} tokens: sequential steps of a layer", n=n), below(n), 1),
        Number(later("steps of a recurrent layer"), n, n),
        Number(later("multiply-adds of a layer, {width} wide", width=width), below(recurrent), attention, core=False),
    )
    why = later(
        "No row waits for another, while a recurrent network takes {n} steps in sequence; but attention "
        "computes more, not less: {times:.1f} times the multiply-adds of one product with the state and one "
        "with the input.",
        n=n,
        times=attention / recurrent,
    )
    return Verdict(numbers, why, later("counted in closed form"))


CLAIMS: tuple[Claim, ...] = (
    Claim(
        "12",
        "arithmetic",
        ("bart chapter", "bert chapter", "korean", "notes"),
        "inside",
        {"kind": "encoder"},
        _attention,
        about="any network",
    ),
    Claim(
        "12b",
        "arithmetic",
        ("seq",),
        "inside",
        {"kind": "encoder", "layer": "3", "around": "scaling"},
        _unscaled,
        about="any network",
    ),
    Claim("12c", "arithmetic", ("notes",), "inside", {}, _additive),
    Claim("12d", "arithmetic", ("notes", "bert chapter"), "parameters", {"of": BERT}, _narrow),
    Claim("13", "arithmetic", ("bert chapter", "notes"), "inside", {"kind": "encoder", "around": "scaling"}, _variance),
    Claim(
        "13c",
        "arithmetic",
        ("bart chapter", "bert chapter", "notes"),
        "inside",
        {"kind": "encoder", "around": "scaling"},
        _vanishing,
    ),
    Claim("13b", "arithmetic", ("notes",), "inside", {"kind": "encoder"}, _unit),
    Claim("14", "arithmetic", ("seq",), "inside", {"kind": "encoder", "layer": "1"}, _cosine, about="any network"),
    Claim("15", "arithmetic", ("bert chapter", "korean"), "inside", {"around": "activation"}, _gelu),
    Claim("15b", "arithmetic", ("bart chapter",), "inside", {"around": "activation"}, _activations),
    Claim("15c", "arithmetic", ("bert chapter",), "inside", {"around": "activation"}, about="trained"),
    Claim(
        "16",
        "arithmetic",
        ("bart chapter", "bert chapter", "korean"),
        "parameters",
        {"of": BART, "part": "decoder"},
        _norms,
    ),
    Claim("12e", "arithmetic", ("seq",), "inside", {"kind": "encoder"}, _order),
    Claim("12f", "arithmetic", ("seq",), "parameters", {"of": BERT}, _plain_projections),
    Claim("12g", "arithmetic", ("bert chapter", "notes"), "inside", {}, about="any network"),
    Claim("16c", "arithmetic", ("notes",), "inside", {"around": "norms"}, _far_input),
    Claim("16d", "arithmetic", ("bart chapter", "bert chapter"), "inside", {"around": "norms"}, about="trained"),
    Claim("16e", "arithmetic", ("bert chapter", "bart chapter"), "inside", {"around": "norms"}, about="trained"),
    Claim("18b", "arithmetic", ("seq",), "experiments", {"experiment": "reach"}, _parallel),
    Claim("18c", "arithmetic", ("seq",), "experiments", {"experiment": "reach"}, _forgetting),
    Claim("16b", "arithmetic", ("bart chapter", "notes"), "inside", {"around": "norms"}, about="any network"),
    Claim(
        "17",
        "arithmetic",
        ("seq", "bart chapter", "bert chapter"),
        "experiments",
        {"experiment": "edit"},
        about="any network",
    ),
    Claim("17b", "arithmetic", ("seq",), "born", {"mask": "false"}, about="any network"),
    Claim(
        "18", "arithmetic", ("seq",), "experiments", {"experiment": "reach", "sentence": "article"}, about="any network"
    ),
)
