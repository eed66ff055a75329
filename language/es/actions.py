"""What a Spanish description says: the action in the infinitive, and the noun phrase that people call a parameter by."""

import re

_MOST_WORDS = 16
_LONGEST_CUE = 6
_FRAME = re.compile(
    r"^(?:(?:esta|la) (?:herramienta|función) (?:sirve para|permite)|permite|sirve para)\s+", re.IGNORECASE
)
_ASIDE = re.compile(r"\s*[(（\[][^()（）\[\]]*[)）\]]")
_END = re.compile(r"[.;:(\n!]|,\s|\s(?:por ejemplo|tales como)\b")
_HEAD = re.compile(r"^(?:el|la|los|las|un|una|su|tu)\s+", re.IGNORECASE)
_YES_NO = re.compile(r"^(?:indica\s+)?si\s", re.IGNORECASE)
_SYNONYMS = {
    "consultar": ("ver", "mirar"), "buscar": ("encontrar",), "eliminar": ("borrar", "quitar"), "crear": ("hacer",),
    "mostrar": ("ver",), "calcular": ("estimar",), "cancelar": ("anular",), "enviar": ("mandar",), "valorar": ("puntuar",),
    "programar": ("configurar",), "escribir": ("redactar",), "averiguar": ("saber",), "añadir": ("agregar",),
}  # fmt: skip


def action_of(name: str, description: str) -> str:
    """What to ask of the tool in the infinitive, "" where the description says nothing short."""
    clause = _END.split(_FRAME.sub("", _ASIDE.sub("", description).strip()), maxsplit=1)[0].strip()
    words = clause.split()
    if not words or len(words) > _MOST_WORDS:
        return ""
    return clause[0].lower() + clause[1:]


def other_actions(phrase: str) -> tuple[str, ...]:
    """The same action with other verbs."""
    verb, _, rest = phrase.partition(" ")
    if not rest or rest.startswith(("en ", "de ")):
        return ()
    return tuple(f"{other} {rest}" for other in _SYNONYMS.get(verb, ()))


def cue_of(description: str) -> str:
    """The noun phrase that people call a parameter by, "" where the description has none that is short."""
    if _YES_NO.search(description):
        return ""
    clause = _HEAD.sub("", _END.split(description.strip(), maxsplit=1)[0].strip())
    if not 1 <= len(clause.split()) <= _LONGEST_CUE or any(character.isdigit() for character in clause):
        return ""
    return clause[0].lower() + clause[1:]
