"""The sentences that a recipe brings for its tools, as kept in it and passed to template/v1."""

from collections.abc import Iterable, Sequence

from pydantic import Field

from callwright.warehouse.records import Language, Record, Tool, content_key

FIELDS = "fields_"  # the slot of a sentence for the fields that it asks for


class SentenceFile(Record):
    """A file of sentences by tool, as it was read with a recipe.

    `parameters` are, by the tool's name, the sets of parameters that prompts show of the tools that
    its sentences are for: a reader sees the technical ones too, which no sentence says.
    """

    file: str = Field(description="Where it was read.")
    language: Language = Field(description="The language of the sentences.")
    text: str = Field(repr=False, description="What it holds.")
    parameters: dict[str, tuple[tuple[str, ...], ...]] = Field(
        default_factory=dict, repr=False, description="Set by callwright."
    )

    def __hash__(self) -> int:
        return hash((self.language, self.text))


def sentences_key(files: Iterable[SentenceFile]) -> str:
    """Return a key of the files' contents, so that a changed text is asked for anew."""
    return content_key([[one.language, one.text] for one in files])


def tools_without_sentences(
    tools: Sequence[Tool], language: Language, files: Sequence[SentenceFile]
) -> list[Tool]:
    """Return the tools without sentences in a language; template/v1 words these plainly.

    Sentences may come from callwright or from these files.
    """
    from callwright.language.calls.tools import view_of
    from callwright.llm.template.sentences import own_sentences, sentences_of

    with own_sentences(tuple(files)):
        return [tool for tool in tools if sentences_of(view_of(tool.sayable), language) is None]


def opener_of(language: Language) -> str:
    """Return an opener with "…" for a sentence without end mark, such as "Could you …?"."""
    from callwright.language.pages import shapes_in

    return shapes_in(language, "requests.openers")[0].replace("{request}", "…")
