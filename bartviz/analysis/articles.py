"""What the source articles say of sizes and costs, beside what the configurations say: each claim with its numbers."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Literal

import pandas as pd

from bartviz.analysis import parts
from bartviz.analysis.costs import Costs
from bartviz.analysis.parameters import Parameter, architecture_of, configuration, rows_of
from bartviz.configs import Sizes, sizes

Verdict = Literal["holds", "holds, with a caveat", "does not hold"]
HOLDS: Verdict = "holds"
CAVEAT: Verdict = "holds, with a caveat"
FAILS: Verdict = "does not hold"

# The articles' table of models: their name, ours, and the millions of parameters they give.
MODELS: tuple[tuple[str, str, int], ...] = (
    ("BERT base", "bert-base-uncased", 110),
    ("BERT large", "bert-large-uncased", 340),
    ("GPT-2 small", "gpt2", 124),
    ("GPT-2 medium", "gpt2-medium", 355),
    ("BART base", "facebook/bart-base", 140),
    ("BART large", "facebook/bart-large", 400),
    ("T5 base", "t5-base", 220),
    ("T5 large", "t5-large", 770),
)


def judge(true: bool, *, caveat: bool) -> Verdict:
    """The verdict on a claim that is (in the main) true or not, where something must be added or not."""
    return FAILS if not true else CAVEAT if caveat else HOLDS


@dataclass(frozen=True, slots=True)
class Claim:
    """One statement of the articles in our words, what is computed now, and the verdict. ``topic`` is its subject."""

    topic: str
    claim: str
    computed: str
    verdict: Verdict


def models() -> pd.DataFrame:
    """The articles' table: model, name, claimed (millions), parameters, difference (share), one column per part."""
    found = []
    for title, name, claimed in MODELS:
        rows = _rows(name)
        size = parts.total(rows)
        said: dict[str, object] = {"model": title, "name": name, "claimed": claimed, "parameters": size}
        said["difference"] = size / (claimed * 1e6) - 1
        said.update(parts.parts(rows))
        found.append(said)
    return pd.DataFrame(found)


@cache
def claims() -> tuple[Claim, ...]:
    """The articles' claims about sizes, parameters and costs."""
    checks = (
        _configuration, _heads, _components, _sharing, _written_out, _table,
        _feed_forward, _embeddings, _attention_memory, _comparable, _decoding,
    )  # fmt: skip
    return tuple(check() for check in checks)


def _configuration() -> Claim:
    size = _sizes("facebook/bart-base")
    encoder, decoder = size.encoder, size.decoder
    assert encoder is not None  # BART has both
    assert decoder is not None
    same = encoder == decoder and (encoder.layers, size.width, encoder.heads) == (6, 768, 12)
    return Claim(
        "BART base",
        "6 + 6 layers, width 768, 12 heads, feed-forward 3,072, vocabulary 50,265, 1,024 positions, GELU.",
        f"{encoder.layers} + {decoder.layers} layers, width {size.width}, {encoder.heads} heads, feed-forward "
        f"{encoder.feed_forward:,}, vocabulary {size.vocabulary:,}, {size.positions:,} positions, "
        f"{size.activation.upper()}. The position table has {size.position_rows:,} rows, two of them unused.",
        judge(same and size.vocabulary == 50_265 and size.positions == 1024, caveat=False),
    )


def _heads() -> Claim:
    found = {name: _sizes(f"facebook/bart-{name}").encoder for name in ("base", "large")}
    heads = {name: stack.heads for name, stack in found.items() if stack is not None}
    return Claim(
        "Heads of BART",
        "Both sizes have 12 attention heads in each layer (one article's summary).",
        f"BART base has {heads['base']}, BART large {heads['large']}; a head is 64 wide in both.",
        judge(set(heads.values()) == {12}, caveat=False),
    )


def _components() -> Claim:
    rows = _rows("facebook/bart-base")
    table = parts.by_component(rows).set_index("component")["used"]
    three = int(table["encoder"] + table["decoder"] + table["shared"])
    said = (table["encoder"], table["decoder"], table["shared"], parts.total(rows))
    return Claim(
        "Parts of BART base",
        "Encoder 81,920,256, decoder 96,103,680, shared embeddings 38,603,520, total 139,420,416.",
        "All four numbers come out, but the first three are not parts of the fourth: encoder and decoder each contain "
        f"the shared matrix. They add up to {three:,}, {three / parts.total(rows):.2f} times the model.",
        judge(said == (81_920_256, 96_103_680, 38_603_520, 139_420_416), caveat=three != parts.total(rows)),
    )


def _sharing() -> Claim:
    rows = _rows("facebook/bart-base")
    shared = parts.shared(rows)
    apart = parts.naive(rows) - sum(matrix.elements for matrix in shared)
    return Claim(
        "Embeddings of BART",
        "Encoder and decoder keep separate embeddings (one article, whose own code prints a shared matrix).",
        f"One matrix of {shared[0].elements:,} numbers is {', '.join(shared[0].uses)}. "
        f"Three separate ones would make {apart:,} parameters.",
        judge(not shared, caveat=False),
    )


def _written_out() -> Claim:
    found = parts.parts(_rows("bert-base-uncased"))
    head = parts.parts(_rows("bert-base-uncased", "BertForMaskedLM"))["head"]
    whole = sum(found.values())
    return Claim(
        "A BERT of 85 million",
        "BERT base written out has about 85 million parameters, not 110, as the masked-language-model head is missing.",
        f"That head would add {head:,} (its large matrix is the embeddings again). 85 million are the 12 layers alone, "
        f"{found['encoder layers']:,}; the embeddings have {found['embeddings']:,}, and the whole with its pooler "
        f"{whole:,}.",
        judge(abs(whole - head - 85e6) < 1e6, caveat=False),
    )


def _table() -> Claim:
    table, t5 = models().set_index("model"), _rows("t5-large")
    far = [model for model, difference in table["difference"].items() if abs(difference) > 0.02]
    own = parts.total(t5) + parts.shared(t5)[0].elements
    return Claim(
        "Table of sizes",
        "GPT-2 124 and 355, T5 220 and 770, BERT 110 and 340, BART 140 and 400 million.",
        f"Within 2 %, but for {' and '.join(map(str, far))}: {parts.total(t5):,} as released, because its output layer "
        f"is its embeddings. With an output matrix of its own it would have {own:,}.",
        judge(len(far) < len(table) / 2, caveat=bool(far)),
    )


def _feed_forward() -> Claim:
    bert = parts.layer_share(_rows("bert-base-uncased"), "encoder", "feed-forward")
    bart = parts.layer_share(_rows("facebook/bart-base"), "decoder", "feed-forward")
    return Claim(
        "Feed-forward layers",
        "They hold most of the parameters of a layer.",
        f"{parts.percent(bert)} of a layer of BERT and of BART's encoder, but {100 * bart:.2f} % of a layer of BART's "
        "decoder, which has two attentions.",
        judge(bert > 0.5, caveat=bart < 0.5),
    )


def _embeddings() -> Claim:
    found = [parts.parts(_rows(f"bert-{size}-uncased")) for size in ("base", "large")]
    base, large = (of["embeddings"] / sum(of.values()) for of in found)
    return Claim(
        "Share of the embeddings",
        "It shrinks as the model gets deeper.",
        f"{parts.percent(base)} of BERT base, {parts.percent(large)} of BERT large (which is wider too: "
        "layers grow with the square of the width, embeddings with the width).",
        judge(large < base, caveat=False),
    )


def _attention_memory() -> Claim:
    memory = Costs("bert-base-uncased").memory(512)
    layer = memory.attention / 12
    return Claim(
        "Attention in memory",
        "BERT base at 512 tokens, float32: 12.6 MB a layer, about 150 MB for 12 layers.",
        f"{layer / 1e6:.1f} MB and {memory.attention / 1e6:.0f} MB, if the weights of all layers are kept. Their "
        f"queries and keys, from which any head is computed when it is looked at, take {memory.captured / 1e6:.0f} MB.",
        judge(round(layer / 1e6, 1) == 12.6 and abs(memory.attention - 150e6) < 5e6, caveat=False),
    )


def _comparable() -> Claim:
    costs = Costs("bert-base-uncased")
    crossing, (short, long) = costs.crossing(), (_ratios(costs, length) for length in (128, 512))
    return Claim(
        "Attention and feed-forward",
        "At 128 to 512 tokens they cost about as many operations.",
        f"What grows with n squared, the scores and weighted sums, costs {parts.percent(short[0])} to "
        f"{parts.percent(long[0])} of the feed-forward layers, and as much only at n = {crossing.scores:,.0f}. With "
        f"the four projections it is {parts.percent(short[1])} to {parts.percent(long[1])}, and as much at "
        f"n = {crossing.attention:,.0f}.",
        judge(short[1] > 0.5 and long[1] < 2, caveat=long[0] < 0.5),
    )


def _decoding() -> Claim:
    steps = Costs("facebook/bart-base").generation(128, 512).set_index("position")
    cached, uncached = (steps[column].loc[512] / steps[column].loc[64] for column in ("cached", "uncached"))
    ratio = steps["uncached"].sum() / steps["cached"].sum()
    return Claim(
        "Decoding",
        "A step costs in proportion to t with a cache, and to t squared without.",
        "The directions are right, the proportions not: most of a step does not depend on t, or only once. BART base, "
        f"128 source tokens, step 512 against step 64 (8 times t): {cached:.2f} times with a cache, {uncached:.1f} "
        f"times without. All 512 steps together cost {ratio:,.0f} times as much without a cache.",
        judge(cached < uncached, caveat=abs(cached - 8) > 1 or abs(uncached - 64) > 8),
    )


def _ratios(costs: Costs, length: int) -> tuple[float, float]:
    """Operations of the scores, and of the whole attention, over those of the feed-forward layers."""
    found = costs.curve([length]).iloc[0]
    scores = found["scores"] + found["weighted sums"]
    return scores / found["feed-forward"], (scores + found["projections"]) / found["feed-forward"]


def _sizes(name: str) -> Sizes:
    return sizes(configuration(name))


def _rows(name: str, architecture: str | None = None) -> tuple[Parameter, ...]:
    config = configuration(name)
    return rows_of(sizes(config), architecture_of(config, architecture))
