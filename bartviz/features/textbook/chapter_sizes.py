"""Lines 1, 3, 5 and 7: sizes and parameters of whole models, counted from configurations."""

from __future__ import annotations

from bartviz.analysis import parameter_totals
from bartviz.analysis.article_models import (
    BART,
    BART_LARGE,
    BERT,
    BERT_LARGE,
    GPT2,
    MODELS,
    T5,
    T5_LARGE,
    TITLES,
    decoder,
    depth,
    encoder,
    rows,
    sizes_of,
    total,
)
from bartviz.features.textbook.judging import (
    CONFIGURATION,
    NEARLY,
    Between,
    Claim,
    Evidence,
    Number,
    Verdict,
    above,
    below,
    yes,
)
from bartviz.language import later

BASIS = later(CONFIGURATION)


def shape(name: str, *claimed: int) -> tuple[Number, ...]:
    """Layers, width, heads, head width, feed-forward width, vocabulary and positions, as far as they are claimed."""
    found, stack = sizes_of(name), encoder(name)
    values = (
        stack.layers,
        found.width,
        stack.heads,
        stack.head_width,
        stack.feed_forward,
        found.vocabulary,
        found.positions or 0,
    )
    labels = (
        later("{model}: encoder layers", model=TITLES[name]),
        later("{model}: width", model=TITLES[name]),
        later("{model}: heads", model=TITLES[name]),
        later("{model}: width of a head", model=TITLES[name]),
        later("{model}: feed-forward width", model=TITLES[name]),
        later("{model}: vocabulary", model=TITLES[name]),
        later("{model}: positions", model=TITLES[name]),
    )
    return tuple(Number(*one) for one in zip(labels, claimed, values, strict=False))


def size(name: str, millions: int) -> Number:
    """Parameters against a round number of millions."""
    return Number(later("{model}: parameters", model=TITLES[name]), millions * 1_000_000, total(name), within=NEARLY)


def decoder_layers(name: str, claimed: int) -> Number:
    return Number(later("{model}: decoder layers", model=TITLES[name]), claimed, decoder(name).layers)


def _bart_base(_evidence: Evidence) -> Verdict:
    found = sizes_of(BART)
    numbers = (
        *shape(BART, 6, 768, 12, 64, 3072, 50_265, 1024),
        decoder_layers(BART, 6),
        Number(later("activation"), "gelu", found.activation),
    )
    why = later(
        "Every number is in the configuration; the position table has {rows:,} rows, two of them unused.",
        rows=found.position_rows,
    )
    return Verdict(numbers, why, BASIS)


def _bart_large(_evidence: Evidence) -> Verdict:
    numbers = (*shape(BART_LARGE, 12, 1024, 16, 64, 4096), decoder_layers(BART_LARGE, 12), size(BART_LARGE, 400))
    return Verdict(numbers, later("The round number is {found:,} in full.", found=total(BART_LARGE)), BASIS)


def _heads(_evidence: Evidence) -> Verdict:
    numbers = tuple(
        Number(later("{model}: heads", model=TITLES[name]), 12, encoder(name).heads) for name in (BART, BART_LARGE)
    )
    why = later(
        "BART large has {heads} heads a layer; the same article's own list of settings says so too.",
        heads=encoder(BART_LARGE).heads,
    )
    return Verdict(numbers, why, BASIS)


def _berts(_evidence: Evidence) -> Verdict:
    numbers = (
        *shape(BERT, 12, 768, 12, 64, 3072, 30_522, 512), size(BERT, 110),
        *shape(BERT_LARGE, 24, 1024, 16, 64, 4096, 30_522, 512), size(BERT_LARGE, 340),
    )  # fmt: skip
    why = later(
        "Rounded generously: {base:,} and {large:,}, both with the pooler and without a masked-language-model head.",
        base=total(BERT),
        large=total(BERT_LARGE),
    )
    return Verdict(numbers, why, BASIS)


def _more_heads(_evidence: Evidence) -> Verdict:
    fewer = total(BERT_LARGE, num_attention_heads=8)
    base, large = encoder(BERT), encoder(BERT_LARGE)
    numbers = (
        Number(later("{model}: heads", model=TITLES[BERT_LARGE]), above(base.heads), large.heads),
        Number(later("{model}: encoder layers", model=TITLES[BERT_LARGE]), above(base.layers), large.layers),
        *(
            Number(later("{model}: width of a head", model=TITLES[name]), 64, encoder(name).head_width)
            for name in (BERT, BERT_LARGE)
        ),
        Number(
            later("BERT large with 8 heads of 128: fewer parameters"),
            yes(True),
            yes(fewer < total(BERT_LARGE)),
            core=False,
        ),
    )
    why = later(
        "Heads are equally wide in both, but their number adds nothing: with 8 heads of 128 BERT large would "
        "have the same {found:,} parameters. Width and depth make the difference.",
        found=fewer,
    )
    return Verdict(numbers, why, BASIS)


def _table(_evidence: Evidence) -> Verdict:
    far = [name for name, millions, _encoder, _decoder in MODELS if not size(name, millions).agrees]
    numbers = [size(name, millions) for name, millions, *_layers in MODELS]
    for name, _millions, *claimed in MODELS:
        label = later("{model}: encoder + decoder layers", model=TITLES[name])
        numbers.append(Number(label, "{} + {}".format(*claimed), "{} + {}".format(*depth(name))))
    own = total(T5_LARGE) + parameter_totals.shared(rows(T5_LARGE))[0].elements
    why = later(
        "All but {models} are within 2%. T5 large has {found:,} as released, because its output layer is its "
        "embeddings; with a matrix of its own it would have {own:,}.",
        models=", ".join(TITLES[name] for name in far) or "–",
        found=total(T5_LARGE),
        own=own,
    )
    return Verdict(tuple(numbers), why, BASIS)


def _than_t5(_evidence: Evidence) -> Verdict:
    pairs = ((BART, T5), (BART_LARGE, T5_LARGE))
    shallow = total(T5, num_layers=6, num_decoder_layers=6)
    numbers = (
        *(
            Number(
                later("{first}: fewer parameters than {second}", first=TITLES[a], second=TITLES[b]),
                below(total(b)),
                total(a),
            )
            for a, b in pairs
        ),
        Number(later("T5 base with BART's 6 + 6 layers: smaller than BART"), below(total(BART)), shallow),
    )
    why = later(
        "BART has {base:.0%} and {large:.0%} of the parameters of T5; at the same depth T5 base would be the "
        "smaller one, so the layers are the reason.",
        base=total(BART) / total(T5),
        large=total(BART_LARGE) / total(T5_LARGE),
    )
    return Verdict(numbers, why, BASIS)


def _between(_evidence: Evidence) -> Verdict:
    triples = ((BERT, BART, T5), (BERT_LARGE, BART_LARGE, T5_LARGE))
    numbers = tuple(
        Number(later("{model}: parameters", model=TITLES[b]), Between(total(a), total(c)), total(b))
        for a, b, c in triples
    )
    return Verdict(numbers, later("Size for size it is larger than BERT and smaller than T5."), BASIS)


def _gpt1(_evidence: Evidence) -> Verdict:
    # GPT-1 is GPT-2 small with 40,478 tokens and 512 positions, less the last layer norm (Radford et al. 2018).
    gpt1 = total(GPT2, vocab_size=40_478, n_positions=512) - 2 * sizes_of(GPT2).width
    label = later("{model}: parameters", model="GPT-1")
    numbers = (size(BART, 140), size(BERT, 110), Number(label, 117_000_000, gpt1, within=NEARLY))
    why = later(
        "All within 2%; GPT-1 is counted from its published sizes (12 layers, 768 wide, 40,478 tokens, 512 positions)."
    )
    return Verdict(numbers, why, BASIS)


CLAIMS: tuple[Claim, ...] = (
    Claim("1", "sizes", ("bart chapter", "korean"), "parameters", {"of": BART}, _bart_base),
    Claim("3", "sizes", ("bart chapter", "korean"), "parameters", {"of": BART_LARGE}, _bart_large),
    Claim("3b", "sizes", ("bart chapter",), "parameters", {"of": BART_LARGE}, _heads),
    Claim("5", "sizes", ("bert chapter",), "parameters", {"of": BERT_LARGE}, _berts),
    Claim("5b", "sizes", ("bert chapter",), "parameters", {"of": BERT_LARGE}, _more_heads),
    Claim("5c", "sizes", ("bert chapter",), "parameters", {"of": BERT}),
    Claim("7", "sizes", ("bart chapter",), "parameters", {"of": T5_LARGE, "more": "models"}, _table),
    Claim("7b", "sizes", ("bart chapter",), "parameters", {"of": T5}, _than_t5),
    Claim("7d", "sizes", ("bart chapter",), "parameters", {"of": BART, "more": "models"}, _between),
    Claim("7c", "sizes", ("notes",), "parameters", {"of": GPT2}, _gpt1),
)
