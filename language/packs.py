"""The languages, and which of them a text is in.

Each language is a folder beside this file, found by its language.yaml.

A language without a folder has a pack too, by its code. No rule here knows it, so it uses the
words and rules of the fallback, and nothing that they read in it proves anything (`has_folder`).
Its name, and whether a text is in it, come from the library pycld2 (Chromium's detector):
offline, in milliseconds.
"""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from callwright.language.protocol import LanguagePack
from callwright.warehouse.errors import ConfigurationError
from callwright.warehouse.extras import require_extra
from callwright.warehouse.yaml_text import read_yaml

if TYPE_CHECKING:
    from callwright.warehouse.records import (
        Language,
    )  # scorers, which know no records, ask for letters as well

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from callwright.warehouse.records import Language


_DESCRIPTION = "language.yaml"
_PATTERNS = "patterns.yaml"
# not the letters of codes: nothing in "43de-a858" is Spanish
_WORD = re.compile(r"(?<![\w-])[^\W\d_]+(?!-?\w)")
_SLOT = re.compile(r"@\{(\w+)\}")
_CLASS = re.compile(r"@\[((?:\\.|[^\]])+)\]")
_SIGN = re.compile(r"\{([^{}]+)\}|\\?(.)", re.DOTALL)
_NOTHING = "(?!)"
COMMON_SCRIPT = "Latin"


@cache
def known() -> tuple[Language, ...]:
    """Return the codes of all languages in alphabetical order."""
    folders = (one for one in _folder("callwright.language").iterdir() if one.is_dir())
    return tuple(sorted(folder.name for folder in folders if (folder / _DESCRIPTION).is_file()))


@cache
def of(code: Language) -> LanguagePack:
    """Return the language with this code, even one without a folder.

    Raises ConfigurationError if no language has the code.
    """
    if not has_folder(code):
        name = language_names().get(code)
        if name is None:
            raise ConfigurationError(
                f"There is no language {code!r}; the languages are {', '.join(known())}, and others"
                " by their ISO 639 codes, such as fr or de."
            )
        return replace(of(fallback()), code=code, name=name, marks=frozenset(), fallback=False)
    entries = {name: value for name, value in _described(code).items() if name != "signs"}
    cues = packaged(f"callwright.language.{code}", _PATTERNS)
    listed = ((name, one if isinstance(one, list) else [one]) for name, one in cues.items())
    lists: Mapping[str, str] = entries.pop("words")
    return LanguagePack(
        code=code,
        marks=frozenset(str(entries.pop("marks")).split()),
        answers=tuple(entries.pop("answers")),
        quotes=tuple(map(tuple, entries.pop("quotes"))),
        frames=tuple(entries.pop("frames")),
        words=MappingProxyType({name: frozenset(str(one).split()) for name, one in lists.items()}),
        cues=MappingProxyType({name: "|".join(map(str, ways)) for name, ways in listed}),
        data=_Data(code),
        **entries,
    )


def _folder(package: str) -> Path:
    """Return the folder of a package without importing it.

    Word lists lie beside the code that uses them, and some readers may not import that code.
    Raises ConfigurationError if there is no such package.
    """
    names = package.split(".")
    spec = find_spec(".".join(names[:2]))
    if spec is None or not spec.submodule_search_locations:
        raise ConfigurationError(f"There is no package {package!r} to read from.")
    return Path(spec.submodule_search_locations[0]).joinpath(*names[2:])


@cache
def packaged(package: str, name: str) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
    """Return the content of a packaged YAML file, read once for all callers.

    Do not change the result: all callers share it.
    """
    return read_yaml(_folder(package).joinpath(name).read_text(encoding="utf-8"))


def is_packaged(package: str, name: str) -> bool:
    """Whether this file exists beside the package's code."""
    return _folder(package).joinpath(name).is_file()


@cache
def in_folders(package: str, name: str) -> tuple[Any, ...]:
    """Return the content of the YAML files with this name in a package's folders.

    For `en.yaml` this includes files such as `depot.en.yaml`. Folders, and files within a
    folder, are in the order of their names.
    """
    folders = sorted(one for one in _folder(package).iterdir() if one.is_dir())
    listed = (file for folder in folders for file in sorted(folder.iterdir()))
    found = (file for file in listed if file.name == name or file.name.endswith(f".{name}"))
    return tuple(read_yaml(file.read_text(encoding="utf-8")) for file in found)


def has_folder(code: Language) -> bool:
    """Whether there are rules for the language; model readers handle all other languages."""
    return code in known()


@cache
def _described(code: Language) -> dict[str, Any]:
    """Return the entries of language.yaml, which can be read before the language's rules."""
    return dict(packaged(f"callwright.language.{code}", _DESCRIPTION))


class _Data(Mapping[str, Any]):
    """The YAML files of a language by their stems, each read when it is first asked for."""

    def __init__(self, code: Language) -> None:
        self._package = f"callwright.language.{code}"

    def __getitem__(self, name: str) -> Any:  # noqa: ANN401 - parsed YAML, typed by who asks for it
        if name not in _stems(self._package):
            raise KeyError(name)
        return packaged(self._package, f"{name}.yaml")

    def __iter__(self) -> Iterator[str]:
        return iter(_stems(self._package))

    def __len__(self) -> int:
        return len(_stems(self._package))


@cache
def _stems(package: str) -> tuple[str, ...]:
    names = (file.name for file in _folder(package).iterdir())
    return tuple(name.removesuffix(".yaml") for name in names if name.endswith(".yaml"))


@lru_cache(16384)
def packs_of(text: str) -> tuple[LanguagePack, ...]:
    """Return the languages that `text` may be in, the likeliest of the common script first.

    That is the one whose marker words occur most in the text; the languages of other scripts
    follow.
    """
    common, others = (tuple(map(of, codes)) for codes in _codes_by_script())
    stated = _WORD.findall(text.casefold())
    if len(common) > 1:
        best = max(common, key=lambda pack: sum(word in pack.marks for word in stated))
    else:
        best = common[0]
    return (best, *others)


@cache
def _codes_by_script() -> tuple[tuple[Language, ...], tuple[Language, ...]]:
    """Return the codes of languages in the common script, the fallback first, and of the others."""
    common = [code for code in known() if _described(code)["script"] == COMMON_SCRIPT]
    first = tuple(sorted(common, key=lambda code: not _described(code).get("fallback")))
    return first, tuple(code for code in known() if code not in common)


def fallback() -> Language:
    """Return the default language for texts of the common script without other clues."""
    return _codes_by_script()[0][0]


def language_of(text: str) -> Language:
    """Return the language of a text, judged by its letters, then by its words."""
    common, *others = packs_of(text)
    return next((pack.code for pack in others if _letters(pack.code).search(text)), common.code)


_LATIN = re.compile("[A-Za-z]")
_LATIN_LETTERS = 3  # that a letter of a script without spaces counts for


def main_language(text: str) -> Language:
    """Return the language of most of the text's letters, or the fallback for the common script."""
    common = len(_LATIN.findall(text))
    own = {code: len(_letters(code).findall(text)) for code in _codes_by_script()[1]}
    found = (code for code, letters in own.items() if _LATIN_LETTERS * letters > common)
    return next(found, fallback())


def letters_of(text: str) -> Language:
    """Return the language with letters of its own in the text, or else the fallback language."""
    return next((code for code in _codes_by_script()[1] if _letters(code).search(text)), fallback())


def script_of(text: str) -> str:
    """Return the script of a text: the common one unless it has letters unique to another."""
    return str(_described(letters_of(text))["script"])


def own_letters(text: str) -> str:
    """Return the first run of letters outside the common script, or "" if there is none."""
    runs = (re.search(f"[{_described(code)['letters']}]+", text) for code in _codes_by_script()[1])
    return next((run.group() for run in runs if run), "")


def other_letters(text: str) -> int:
    """Return how many letters of a text belong only to scripts other than the common one."""
    return sum(len(_letters(code).findall(text)) for code in _codes_by_script()[1])


def writes(language: Language, text: str) -> bool:
    """Whether `text` is in the script of `language`.

    For a language without a folder: whether the text is not clearly in another language.
    """
    if not has_folder(language):
        return not is_in_another(text, language)
    return script_of(text) == of(language).script


def document_language(texts: Iterable[str]) -> Language | None:
    """Return the language of all these texts together, or None to decide for each text.

    None if the language is uncertain, is the fallback language, or is one recognised by its own
    letters: in these cases single texts may be in another language.
    """
    found = detected(texts)
    if not found or found == fallback() or (found in known() and of(found).script != COMMON_SCRIPT):
        return None
    return found


def puts_spaces(language: Language) -> bool:
    """Whether `language` puts a space between words."""
    return bool(of(language).space)


def sentence_ends(language: Language) -> str:
    """Return the punctuation marks that end a sentence in `language`."""
    return of(language).ends


@cache
def _letters(code: Language) -> re.Pattern[str]:
    letters = _described(code)["letters"]
    return re.compile(f"[{letters}]") if letters else re.compile(_NOTHING)


@cache
def unspaced() -> str:
    """Return the letters of scripts without spaces between words, for a regex character class."""
    parts = (entries["letters"] for entries in map(_described, known()) if not entries["space"])
    return "".join(parts)


@cache
def signs(stated: str) -> str:
    """Return signs together with their forms in other scripts.

    `{.!}` stands for the other forms alone, `{list}` for the forms that have this name.
    """
    return _SIGN.sub(_with_forms, stated)


@cache
def widened(template: str) -> str:
    """Return a regex in which each class `@[.,]` also has its signs' forms in other scripts."""
    return _CLASS.sub(lambda found: f"[{_SIGN.sub(_with_forms, found[1])}]", template)


def _with_forms(sign: re.Match[str]) -> str:
    named, plain = sign.groups()
    if named:
        return "".join(map(_forms, [named] if named.isalpha() else named))
    return sign.group() + _forms(plain)


@cache
def _forms(sign: str) -> str:
    """Return the forms of a sign in scripts with their own, or those listed under a name."""
    return "".join(entries.get("signs", {}).get(sign, "") for entries in map(_described, known()))


@cache
def plain_signs() -> dict[int, str]:
    """Return a mapping from each sign's forms in other scripts to the plain sign.

    The forms are what a keyboard of that script types for the sign. Keys are code points, as for
    `str.translate`.
    """
    plain = dict.fromkeys(map(ord, _forms("list")), ",")
    for entries in map(_described, known()):
        for sign, forms in entries.get("signs", {}).items():
            plain |= dict.fromkeys(map(ord, forms), sign) if len(sign) == 1 else {}
    return plain


class LanguagePattern:
    """A regular expression with slots `@{name}`, filled by the languages that a text may be in.

    A class `@[.,]` also has the forms that its signs have in other scripts.
    """

    def __init__(self, template: str, flags: re.RegexFlag = re.IGNORECASE) -> None:
        self._template = template
        self._flags = flags
        self._compiled: dict[tuple[LanguagePack, ...], re.Pattern[str]] = {}

    def of(self, text: str) -> re.Pattern[str]:
        """Return the expression for the languages of `text`."""
        return self.among(packs_of(text))

    def among(self, packs: tuple[LanguagePack, ...]) -> re.Pattern[str]:
        """Return the expression for these languages."""

        def fill(slot: re.Match[str]) -> str:
            cues = (pack.cues.get(slot[1]) for pack in packs)
            return "|".join(filter(None, cues)) or _NOTHING

        if packs not in self._compiled:
            filled = _SLOT.sub(fill, widened(self._template))
            self._compiled[packs] = re.compile(filled, self._flags)
        return self._compiled[packs]

    @property
    def everywhere(self) -> re.Pattern[str]:
        """Return the expression for all languages at once."""
        return self.among(tuple(of(code) for code in known()))


ENOUGH = 20_000  # characters tell as much as the whole document
_FEWEST = 60  # of a few words nobody can tell
_SURE, _MOSTLY = 80, 60  # per cent of the text
_CODE = re.compile(r"[a-z]{2,3}")
# Languages so alike that a sentence may be taken for one of the others.
_ALIKE = (
    frozenset({"no", "nb", "nn", "da", "sv"}),
    frozenset({"hr", "sr", "bs", "sl"}),
    frozenset({"id", "ms", "su", "jv"}),
    frozenset({"cs", "sk"}),
    frozenset({"gl", "pt"}),
    frozenset({"ca", "oc"}),
    frozenset({"af", "nl", "fy"}),
    frozenset({"ru", "uk", "be", "bg"}),
    frozenset({"hi", "mr", "ne", "bh"}),
    frozenset({"fi", "et"}),
    frozenset({"de", "lb"}),
)
# The language with the most speakers of those that share a script.
_LARGEST_OF_SCRIPT = {"CYRILLIC": "ru", "ARABIC": "ar", "DEVANAGARI": "hi"}
_OTHER_CODES = {"iw": "he", "jw": "jv", "in": "id"}  # the detector has the old codes of these


@cache
def language_names() -> Mapping[str, str]:
    """Return the English names of the languages that the detector knows, by ISO 639 code."""
    require_extra("build")
    import pycld2  # not above: only importing asks

    named = {_OTHER_CODES.get(code, code): name for name, code in pycld2.LANGUAGES}
    coded = ((code, name) for code, name in named.items() if _CODE.fullmatch(code))
    titled = ((code, name.replace("_", " ").title()) for code, name in coded)
    known_ones = ((code, name) for code, name in titled if code not in ("un", "xxx"))
    real_names = {code: name for code, name in known_ones if not name.startswith("X ")}
    return MappingProxyType({**real_names, "nb": "Norwegian", "nn": "Norwegian Nynorsk"})


@lru_cache(4096)
def is_in_another(text: str, language: Language) -> bool:
    """Whether the detector is sure that a text is in another language.

    Languages that are often mistaken for this one do not count as another.
    """
    require_extra("build")
    import pycld2  # not above: only few texts ask

    is_reliable, _, details = pycld2.detect(_printable(text))
    codes = [_plain_code(code) for _, code, *_ in details]
    alike = next((group for group in _ALIKE if language in group), frozenset({language}))
    is_sure = is_reliable and details[0][2] >= _SURE and codes[0] != "un"
    return bool(is_sure and alike.isdisjoint(codes))


def detected(texts: Iterable[str]) -> Language:
    """Return the code of the language of most of the text, or "" if the detector is unsure."""
    require_extra("build")
    import pycld2  # not above: only importing asks

    gathered: list[str] = []
    length = 0
    for text in texts:
        gathered.append(text)
        length += len(text)
        if length > ENOUGH:
            break
    if length < _FEWEST:
        return ""
    is_reliable, _, details = pycld2.detect(_printable(" . ".join(gathered)))
    _, code, share, _ = details[0]
    return _plain_code(str(code)) if is_reliable and share >= _SURE and code != "un" else ""


def find_language(text: str) -> Language:
    """Return the language of a text, by the detector where it is sure, else by its letters.

    Of a few words it may be wrong: "Grand Hotel Milano" is of any language, so then the fallback.
    """
    require_extra("build")
    import pycld2  # not above: only importing asks

    plain = _printable(text)
    is_sure, _, details = pycld2.detect(plain)
    if not (is_sure and details[0][2] >= _MOSTLY):
        if (by_letters := main_language(text)) != fallback():
            return by_letters
        _, _, details = pycld2.detect(plain, bestEffort=True)
    _, code, share, _ = details[0]
    code = _plain_code(str(code))
    if share >= _MOSTLY and code in language_names():
        return code
    scripts = Counter(unicodedata.name(letter, "").partition(" ")[0] for letter in text)
    shared = {name: scripts[name] for name in _LARGEST_OF_SCRIPT if scripts[name]}
    most = max(shared, key=lambda name: shared[name], default="")
    is_latin = scripts["LATIN"] >= shared.get(most, 0)
    return fallback() if is_latin else _LARGEST_OF_SCRIPT[most]


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() else " " for letter in text)


def _plain_code(code: str) -> str:
    code = code.partition("-")[0]
    return _OTHER_CODES.get(code, code)
