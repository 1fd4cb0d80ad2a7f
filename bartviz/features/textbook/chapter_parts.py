"""Lines 2, 4, 6 and 8: the parameters of a model by part, and matrices that are counted twice."""

from __future__ import annotations

from bartviz.analysis import parameter_totals
from bartviz.analysis.article_models import (
    BART,
    BERT,
    BERT_LARGE,
    GPT2,
    decoder,
    depth,
    elements,
    encoder,
    layer,
    rows,
    sizes_of,
    total,
)
from bartviz.analysis.parameters import Component
from bartviz.families.catalogue import CATALOGUE
from bartviz.features.textbook.judging import (
    CONFIGURATION,
    NEARLY,
    Between,
    Claim,
    Evidence,
    Number,
    Share,
    Verdict,
    above,
    at_least,
    below,
)
from bartviz.language import later

EVENLY = Between(Share(0.45), Share(0.55))  # "roughly evenly"
VAST = Share(0.75)  # "the vast majority"
BASIS = later(CONFIGURATION)


def _parts(_evidence: Evidence) -> Verdict:
    mine = rows(BART)
    table = parameter_totals.by_component(mine).set_index("component")["used"]
    whole, three = parameter_totals.total(mine), int(table["encoder"] + table["decoder"] + table["shared"])
    numbers = (
        Number(later("encoder with the embeddings"), 81_920_256, int(table["encoder"])),
        Number(later("decoder with the embeddings"), 96_103_680, int(table["decoder"])),
        Number(later("shared embeddings"), 38_603_520, int(table["shared"])),
        Number(later("whole model"), 139_420_416, whole),
        Number(later("sum of the three parts"), whole, three, core=False),
    )
    why = later(
        "All four numbers are correct, but encoder and decoder each contain the shared matrix: as parts of a "
        "chart they add up to {three:,}, {times:.2f} times the model.",
        three=three,
        times=three / whole,
    )
    return Verdict(numbers, why, BASIS)


def _even(_evidence: Evidence) -> Verdict:
    mine = rows(BART)
    table, own = parameter_totals.by_component(mine).set_index("component")["used"], parameter_totals.parts(mine)
    counted = Share(table["decoder"] / (table["decoder"] + table["encoder"]))
    layers = Share(own["decoder layers"] / (own["decoder layers"] + own["encoder layers"]))
    numbers = (
        Number(later("share of the decoder, embeddings in both"), EVENLY, counted),
        Number(later("share of the decoder, layers alone"), EVENLY, layers, core=False),
    )
    why = later(
        "It looks even because the same {shared:,} embeddings are in both numbers; the layers themselves are "
        "{encoder:,} and {decoder:,}, since a decoder layer has a second attention.",
        shared=int(table["shared"]),
        encoder=own["encoder layers"],
        decoder=own["decoder layers"],
    )
    return Verdict(numbers, why, BASIS)


def _sharing(_evidence: Evidence) -> Verdict:
    mine = rows(BART)
    ties = parameter_totals.shared(mine)
    apart = parameter_totals.naive(mine) - sum(matrix.elements for matrix in ties)
    matrices = sum(row.count > 0 for row in mine if row.role in ("token embedding", "output layer weight"))
    numbers = (
        Number(later("separate embedding matrices"), 2, matrices),
        Number(later("parameters if they were separate"), apart, parameter_totals.total(mine)),
    )
    why = later(
        "One matrix of {elements:,} numbers serves as encoder input, decoder input and output layer; the article's own "
        "code prints it as shared.",
        elements=ties[0].elements if ties else 0,
    )
    return Verdict(numbers, why, BASIS)


def _written_out(_evidence: Evidence) -> Verdict:
    whole, head = parameter_totals.parts(rows(BERT)), parameter_totals.parts(rows(BERT, "BertForMaskedLM"))["head"]
    layers = whole["encoder layers"]
    numbers = (
        Number(later("parameters without that head"), 85_000_000, total(BERT), within=NEARLY),
        Number(later("the head that is left out"), 25_000_000, head, within=NEARLY),
        Number(later("the 12 layers alone"), 85_000_000, layers, within=NEARLY),
    )
    why = later(
        "The head would add {head:,}, as its large matrix is the embeddings again; 85 million are only the "
        "12 layers, {layers:,}, without the {embeddings:,} of the embeddings.",
        head=head,
        layers=layers,
        embeddings=whole["embeddings"],
    )
    return Verdict(numbers, why, BASIS)


def _composition(_evidence: Evidence) -> Verdict:
    ours, bert, gpt = layer(BART, "encoder"), layer(BERT, "encoder"), layer(GPT2, "decoder")
    mine = layer(BART, "decoder")
    crossing = tuple(row for row in mine if parameter_totals.sublayer(row.role) == "cross-attention")
    segments = sizes_of(BART).segments
    numbers = (
        Number(later("an encoder layer: parameters as in BERT"), elements(bert), elements(ours)),
        Number(
            later("a decoder layer without cross-attention: as in GPT-2"),
            elements(gpt),
            elements(mine) - elements(crossing),
        ),
        Number(
            later("normalisation of the decoder: as in GPT-2"),
            sizes_of(GPT2).family.norm,
            sizes_of(BART).family.norm,
            core=False,
        ),
        Number(later("segment embeddings: as in BERT"), sizes_of(BERT).segments, segments, core=False),
    )
    why = later(
        "Layer by layer the sizes are the same, plus {crossing:,} for cross-attention; but BART normalises "
        "after each sum, while GPT-2 does so before, and it has no segment embeddings.",
        crossing=elements(crossing),
    )
    return Verdict(numbers, why, BASIS)


def _feed_forward(_evidence: Evidence) -> Verdict:
    found = {
        later("a layer of BERT"): (parameter_totals.layer_share(rows(BERT), "encoder", "feed-forward"), True),
        later("a layer of BART's decoder"): (
            parameter_totals.layer_share(rows(BART), "decoder", "feed-forward"),
            False,
        ),
    }
    numbers = tuple(
        Number(later("share of the feed-forward layers: {of}", of=of), above(Share(0.5)), Share(share), core=core)
        for of, (share, core) in found.items()
    )
    bert, bart = (share for share, _core in found.values())
    why = later(
        "{bert:.0%} of a layer of BERT and of BART's encoder, but {bart:.2%} of a layer of BART's decoder, "
        "which has two attentions.",
        bert=bert,
        bart=bart,
    )
    return Verdict(numbers, why, BASIS)


def _embeddings(_evidence: Evidence) -> Verdict:
    def share(name: str, layers: int) -> float:
        found = parameter_totals.parts(rows(name, num_hidden_layers=layers))
        return found["embeddings"] / sum(found.values())

    base, deep, large = share(BERT, 12), share(BERT, 24), share(BERT_LARGE, 24)
    numbers = (
        Number(later("embeddings of BERT base with 24 layers instead of 12"), below(Share(base)), Share(deep)),
        Number(later("embeddings of BERT large"), below(Share(base)), Share(large)),
    )
    why = later(
        "From {base:.1%} to {deep:.1%} by depth alone, and to {large:.1%} in BERT large, which is wider too.",
        base=base,
        deep=deep,
        large=large,
    )
    return Verdict(numbers, why, BASIS)


def _nearer(_evidence: Evidence) -> Verdict:
    def built(name: str, component: Component) -> tuple[dict[str, int], str]:
        """Parameters by sublayer, and the position of the norm."""
        found: dict[str, int] = {}
        for row in layer(name, component):
            found[parameter_totals.sublayer(row.role)] = (
                found.get(parameter_totals.sublayer(row.role), 0) + row.elements
            )
        return found, sizes_of(name).family.norm

    def layers_like(one: tuple[dict[str, int], str]) -> int:
        both = (built(BART, "encoder"), encoder(BART).layers), (built(BART, "decoder"), decoder(BART).layers)
        return sum(layers for mine, layers in both if mine == one)

    bert, gpt = layers_like(built(BERT, "encoder")), layers_like(built(GPT2, "decoder"))
    mine, far, near = (sizes_of(name).vocabulary for name in (BART, BERT, GPT2))
    numbers = (
        Number(
            later("entries more than GPT-2 has in its vocabulary, against {far:,} more than BERT", far=mine - far),
            below(mine - far),
            mine - near,
        ),
        Number(later("layers that write, as GPT-2 has 12 and BERT none"), above(depth(BERT)[1]), depth(BART)[1]),
        Number(later("of 12 layers: those that are a layer of GPT-2"), above(bert), gpt, core=False),
    )
    why = later(
        "It depends on what is counted. BART writes, and uses the pieces of GPT-2 with {more} more entries, "
        "while BERT has another vocabulary. But its {bert} encoder layers are those of BERT in every size "
        "and norm, and no decoder layer is one of GPT-2, which has no cross-attention and normalises before "
        "the sum.",
        bert=bert,
        more=mine - near,
    )
    return Verdict(numbers, why, BASIS)


def _four_times(_evidence: Evidence) -> Verdict:
    ratios = {}
    for known in CATALOGUE:
        sizes = sizes_of(known.name)
        stack = sizes.encoder or sizes.decoder
        if known.source == "hub" and stack is not None:
            ratios[known.name] = stack.feed_forward / sizes.width
    others = [name.rsplit("/", 1)[-1] for name, ratio in ratios.items() if ratio != 4]
    numbers = (
        Number(later("BERT base: feed-forward width ÷ width"), 4, ratios[BERT]),
        Number(later("BART base: feed-forward width ÷ width"), 4, ratios[BART]),
        Number(
            later("models of the catalogue with four times the width: typically"),
            above(len(ratios) // 2),
            len(ratios) - len(others),
        ),
        Number(
            later("models of the catalogue with four times the width: all"),
            len(ratios),
            len(ratios) - len(others),
            core=False,
        ),
    )
    why = later(
        "Typical, as the statement says, but not universal: {models} has another width.",
        models=", ".join(others) or "–",
    )
    return Verdict(numbers, why, BASIS)


def _in_layers(_evidence: Evidence) -> Verdict:
    def share(name: str) -> float:
        found = parameter_totals.parts(rows(name))
        return found["encoder layers"] / sum(found.values())

    base, large = share(BERT), share(BERT_LARGE)
    forward = parameter_totals.layer_share(rows(BERT), "encoder", "feed-forward")
    numbers = (
        Number(later("{model}: share of the layers", model="BERT base"), at_least(VAST), Share(base)),
        Number(later("{model}: share of the layers", model="BERT large"), at_least(VAST), Share(large)),
        Number(
            later("share of the feed-forward layers: {of}", of=later("a layer of BERT")),
            above(Share(0.5)),
            Share(forward),
        ),
    )
    why = later("{base:.1%} of BERT base and {large:.1%} of BERT large are in the layers.", base=base, large=large)
    return Verdict(numbers, why, BASIS)


CLAIMS: tuple[Claim, ...] = (
    Claim("2", "sizes", ("bart chapter",), "parameters", {"of": BART}, _parts),
    Claim("2b", "sizes", ("bart chapter",), "parameters", {"of": BART}, _even),
    Claim("4", "sizes", ("bart chapter",), "parameters", {"of": BART}, _sharing),
    Claim("6", "sizes", ("bert chapter",), "parameters", {"of": BERT, "class": "BertForMaskedLM"}, _written_out),
    Claim("8", "sizes", ("bert chapter",), "parameters", {"of": BART, "part": "decoder"}, _feed_forward),
    Claim("8b", "sizes", ("bert chapter",), "parameters", {"of": BERT_LARGE}, _embeddings),
    Claim("8f", "sizes", ("bert chapter",), "parameters", {"of": BERT}, _in_layers),
    Claim("8d", "sizes", ("korean",), "models", {}, _nearer),
    Claim("8e", "sizes", ("bert chapter", "bart chapter"), "models", {}, _four_times),
    Claim(
        "8c", "sizes", ("bart chapter", "korean", "notes"), "parameters", {"of": BART, "part": "decoder"}, _composition
    ),
)
