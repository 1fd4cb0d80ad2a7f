"""Which model classes there are for a family, and what each adds to the base model: its head, its pooler, its ties."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from bartviz.families.matrices import Part, Parts
from bartviz.language import _, mark

_EMBEDDING = "embeddings.word_embeddings.weight"


@dataclass(frozen=True)
class Variant:
    """One class of transformers. ``does``: what it is for, in English; ``bare``: the base model itself, its names
    without a prefix.

    ``ties``: a head's matrix -> the one it is (names inside the base model start with "."); they hold where the
    configuration ties word embeddings, as it does by default.
    """

    does: str
    bare: bool = False
    pooler: bool = False
    decoder: bool = True
    head: Parts = ()
    ties: Mapping[str, str] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return _(self.does)


def _linear(role: str, name: str, shape: str) -> Parts:
    return Part(f"{role} weight", f"{name}.weight", shape), Part(
        f"{role} bias", f"{name}.bias", shape.split(maxsplit=1)[0]
    )


def _mlm(root: str, dense: str, norm: str, decoder: str, width: str, *, own_bias: bool) -> Parts:
    """A masked-language-model head (Devlin et al. 2019, section 3.1): transform, layer norm, the vocabulary."""
    return (
        *_linear("output transform", root + dense, f"{width} d"),
        *_linear("output layer norm", root + norm, width),
        *((Part("output layer bias", f"{root}bias", "V"),) if own_bias else ()),
        Part("output layer weight", f"{root}{decoder}.weight", f"V {width}"),
        Part("output layer bias", f"{root}{decoder}.bias", "V"),
    )


_BERT_MLM = _mlm("cls.predictions.", "transform.dense", "transform.LayerNorm", "decoder", "d", own_bias=True)
_BERT_TIES = {
    "cls.predictions.decoder.weight": f".{_EMBEDDING}",
    "cls.predictions.decoder.bias": "cls.predictions.bias",
}
_ALBERT_MLM = _mlm("predictions.", "dense", "LayerNorm", "decoder", "e", own_bias=True)
_ALBERT_TIES = {"predictions.decoder.weight": f".{_EMBEDDING}", "predictions.decoder.bias": "predictions.bias"}
_DENSE_CLASSIFIER = (
    *_linear("classifier dense", "classifier.dense", "d d"),
    *_linear("classifier", "classifier.out_proj", "C d"),
)
_LM = (Part("output layer weight", "lm_head.weight", "U d"),)
_CLASSIFIER = _linear("classifier", "classifier", "C d")
_TOKEN_CLASSIFIER = _linear("token classifier", "classifier", "C d")
_ANSWER = _linear("answer span", "qa_outputs", "C d")
_WORDS, _TOKENS, _ANSWERS = mark("fills masked words"), mark("labels each token"), mark("marks an answer")


def _seq2seq(name: str, language_model: str = "ForConditionalGeneration") -> dict[str, Variant]:
    return {
        f"{name}{language_model}": Variant(mark("writes text"), head=_LM, ties={"lm_head.weight": ".shared.weight"}),
        f"{name}Model": Variant(mark("base model, no head"), bare=True),
    }


def _bart(name: str) -> dict[str, Variant]:
    head = (
        *_linear("classifier dense", "classification_head.dense", "d d"),
        *_linear("classifier", "classification_head.out_proj", "C d"),
    )
    return {
        **_seq2seq(name),
        f"{name}ForSequenceClassification": Variant(mark("classifies a text"), head=head),
        f"{name}ForQuestionAnswering": Variant(_ANSWERS, head=_linear("answer span", "qa_outputs", "2 d")),
    }


# The first of each family is what is taken where a configuration names no class.
VARIANTS: Mapping[str, Mapping[str, Variant]] = MappingProxyType(
    {
        "bert": {
            "BertModel": Variant(mark("base model with pooler"), bare=True, pooler=True),
            "BertForMaskedLM": Variant(_WORDS, head=_BERT_MLM, ties=_BERT_TIES),
            "BertForPreTraining": Variant(
                mark("fills masked words and judges pairs"),
                pooler=True,
                ties=_BERT_TIES,
                head=(*_BERT_MLM, *_linear("next sentence", "cls.seq_relationship", "2 d")),
            ),
            "BertForNextSentencePrediction": Variant(
                mark("judges pairs"), pooler=True, head=_linear("next sentence", "cls.seq_relationship", "2 d")
            ),
            "BertForSequenceClassification": Variant(mark("classifies a text"), pooler=True, head=_CLASSIFIER),
            "BertForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "BertForQuestionAnswering": Variant(_ANSWERS, head=_ANSWER),
            "BertForMultipleChoice": Variant(
                mark("chooses among texts"), pooler=True, head=_linear("classifier", "classifier", "1 d")
            ),
        },
        "roberta": {
            "RobertaModel": Variant(mark("base model with pooler"), bare=True, pooler=True),
            "RobertaForMaskedLM": Variant(
                _WORDS,
                head=_mlm("lm_head.", "dense", "layer_norm", "decoder", "d", own_bias=True),
                ties={"lm_head.decoder.weight": f".{_EMBEDDING}", "lm_head.decoder.bias": "lm_head.bias"},
            ),
            "RobertaForSequenceClassification": Variant(mark("classifies a text"), head=_DENSE_CLASSIFIER),
            "RobertaForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "RobertaForQuestionAnswering": Variant(_ANSWERS, head=_ANSWER),
        },
        "distilbert": {
            "DistilBertModel": Variant(mark("base model"), bare=True),
            "DistilBertForMaskedLM": Variant(
                _WORDS,
                head=_mlm("vocab_", "transform", "layer_norm", "projector", "d", own_bias=False),
                ties={"vocab_projector.weight": f".{_EMBEDDING}"},
            ),
            "DistilBertForSequenceClassification": Variant(
                mark("classifies a text"), head=(*_linear("classifier dense", "pre_classifier", "d d"), *_CLASSIFIER)
            ),
            "DistilBertForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "DistilBertForQuestionAnswering": Variant(_ANSWERS, head=_linear("answer span", "qa_outputs", "2 d")),
        },
        "electra": {
            "ElectraModel": Variant(mark("base model"), bare=True),
            "ElectraForPreTraining": Variant(
                mark("detects replaced words"),
                head=(
                    *_linear("detector dense", "discriminator_predictions.dense", "d d"),
                    *_linear("detector", "discriminator_predictions.dense_prediction", "1 d"),
                ),
            ),
            "ElectraForMaskedLM": Variant(
                _WORDS,
                ties={"generator_lm_head.weight": f".{_EMBEDDING}"},
                head=_mlm("generator_", "predictions.dense", "predictions.LayerNorm", "lm_head", "e", own_bias=False),
            ),
            "ElectraForSequenceClassification": Variant(mark("classifies a text"), head=_DENSE_CLASSIFIER),
            "ElectraForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "ElectraForQuestionAnswering": Variant(_ANSWERS, head=_ANSWER),
        },
        "albert": {
            "AlbertModel": Variant(mark("base model with pooler"), bare=True, pooler=True),
            "AlbertForMaskedLM": Variant(_WORDS, head=_ALBERT_MLM, ties=_ALBERT_TIES),
            "AlbertForPreTraining": Variant(
                mark("fills masked words and orders sentences"),
                pooler=True,
                ties=_ALBERT_TIES,
                head=(*_ALBERT_MLM, *_linear("sentence order", "sop_classifier.classifier", "C d")),
            ),
            "AlbertForSequenceClassification": Variant(mark("classifies a text"), pooler=True, head=_CLASSIFIER),
            "AlbertForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "AlbertForQuestionAnswering": Variant(_ANSWERS, head=_ANSWER),
        },
        "bart": _bart("Bart"),
        "mbart": _bart("MBart"),
        "marian": _seq2seq("Marian", "MTModel"),
        "pegasus": _seq2seq("Pegasus"),
        "t5": {**_seq2seq("T5"), "T5EncoderModel": Variant(mark("encoder alone"), bare=True, decoder=False)},
        "gpt2": {
            "GPT2LMHeadModel": Variant(mark("writes text"), head=_LM, ties={"lm_head.weight": ".wte.weight"}),
            "GPT2Model": Variant(mark("base model, no head"), bare=True),
            "GPT2ForSequenceClassification": Variant(
                mark("classifies a text"), head=(Part("token classifier weight", "score.weight", "C d"),)
            ),
            "GPT2ForTokenClassification": Variant(_TOKENS, head=_TOKEN_CLASSIFIER),
            "GPT2ForQuestionAnswering": Variant(_ANSWERS, head=_linear("answer span", "qa_outputs", "2 d")),
        },
    }
)
