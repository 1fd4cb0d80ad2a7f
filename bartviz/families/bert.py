"""BERT (Devlin et al. 2019), of which RoBERTa, DistilBERT, ELECTRA and ALBERT are relatives."""

from __future__ import annotations

from bartviz.families import matrices
from bartviz.families.family import Family, Side, Site, Training, Variant
from bartviz.language import mark

_MASKED_LM = matrices.masked_lm("cls.predictions.", "transform.dense", "transform.LayerNorm", "decoder")
_TIES = {"cls.predictions.decoder.weight": f".{matrices.WORDS}", "cls.predictions.decoder.bias": "cls.predictions.bias"}
_NEXT_SENTENCE = matrices.linear("next sentence", "cls.seq_relationship", "2 d")
_SELF = "self.query self.key self.value output.dense"

ENCODER = Side(
    before=matrices.embeddings("d"),
    layer="encoder.layer.{}.",
    parts=(
        *matrices.attention("self-attention", "attention.", _SELF, "attention.output.LayerNorm"),
        *matrices.feed_forward("intermediate.dense", "output.dense", "output.LayerNorm"),
    ),
    attention=Site("attention.self", "../output.dense"),
)


def variants(name: str) -> dict[str, Variant]:
    """The classes of BERT and its relatives."""
    return {
        f"{name}Model": Variant(mark("base model with pooler"), bare=True, pooler=True),
        f"{name}ForMaskedLM": matrices.fills_words(_MASKED_LM, _TIES),
        f"{name}ForPreTraining": Variant(
            mark("fills masked words and judges pairs"), pooler=True, ties=_TIES, head=(*_MASKED_LM, *_NEXT_SENTENCE)
        ),
        f"{name}ForNextSentencePrediction": Variant(
            mark("judges pairs"), pooler=True, head=_NEXT_SENTENCE, task="text"
        ),
        **matrices.tasks(name, matrices.classifies(matrices.CLASSIFIER, pooler=True), matrices.marks_answers()),
        f"{name}ForMultipleChoice": Variant(
            mark("chooses among texts"), pooler=True, head=matrices.linear("classifier", "classifier", "1 d")
        ),
    }


BERT = Family(
    name="bert",
    title="BERT",
    keys={
        "vocabulary": ("vocab_size", 30_522),
        "width": ("hidden_size", 768),
        "encoder_layers": ("num_hidden_layers", 12),
        "encoder_heads": ("num_attention_heads", 12),
        "encoder_feed_forward": ("intermediate_size", 3072),
        "positions": ("max_position_embeddings", 512),
        "segments": ("type_vocab_size", 2),
    },
    activation=("hidden_act", "gelu"),
    base="bert.",
    encoder=ENCODER,
    pooler=matrices.linear("pooler", "pooler.dense", "d d"),
    variants=variants("Bert"),
    classes=("BertForPreTraining", "BertForMaskedLM", "BertModel"),
    training=Training(
        matrices.WORDPIECE,
        "[CLS] A [SEP]",
        "[CLS] A [SEP] B [SEP]",
        mark("fill masked pieces (15%) and judge whether B follows A"),
        mark("only the masked pieces"),
        "Devlin et al. 2019",
    ),
)
