"""Which language a text in Latin letters is written in, as far as its little words tell.

English is what is left where nothing speaks for another: so a name or two in another language
changes nothing. Knows: small words and letters. Does not know: contexts, voices.
"""

# ruff: noqa: E501, RUF001, SIM905 - lists of words are read along; the curly apostrophe is meant

from __future__ import annotations

import re
from functools import lru_cache

_ENGLISH = frozenset(
    """the of and to is that it for are with as his they be at one have this from or had by but some
    what there we can out other were your when up how said each she which their if about many then
    them would like these see him two has more day could go did my most who over know than call
    first people been now find i you not don't it's i'm""".split()
)
_COMMON = {
    "de": "der das und ist nicht ein eine einen ich zu dem mit auf für von im bei wird sind auch wir nach "
    "aus wie oder aber noch schon kann haben wurde über uhr sie kostet guten danke bitte heute",
    "fr": "le les des une est et dans que qui je vous il elle sur pas du au nous avec ce cette sont mais "
    "où très être fait suis c'est bonjour merci oui coûte",
    "es": "el los las una y en que por para del como está pero muy más qué este esta tienes hay hola "
    "gracias cuánto cómo cuesta buenos usted",
    "pt": "os uma um é em que não da na ao com são mas muito você olá obrigado custa às está",
    "it": "lo gli una è che per non del della sono molto anche questo grazie ciao buongiorno il costa",
    "nl": "het een van niet op met voor zijn aan ook maar dat wordt ik hallo bedankt",
    "sv": "och att det som är inte på för med av jag hej tack",
    "pl": "się nie na jest że jak ale dzień dziękuję tak",
    "tr": "bir ve bu için çok ile merhaba değil",
    "id": "yang dan untuk tidak dengan ini itu adalah saya",
}  # fmt: skip
_SURE = frozenset(
    """ich nicht ist wird für eine kostet guten danke bitte uhr est vous je suis avec c'est bonjour merci
    oui hola gracias está cuánto cómo cuesta é não você obrigado olá è sono grazie ciao buongiorno ik
    het niet och inte jag hej jest się dziękuję bir için merhaba yang untuk tidak dengan""".split()
)
"""One of these is enough where no English word stands beside it."""
_WORDS = {tag: frozenset(words.split()) for tag, words in _COMMON.items()}
_LETTERS = (
    (re.compile("[¿¡]"), "es"),
    (re.compile("ß"), "de"),
    (re.compile("[ạảấầẩẫậắằẳẵặẹẻẽếềểễệỉịọỏốồổỗộớờởỡợụủứừửữựỳỵỷỹđƠơƯư]", re.IGNORECASE), "vi"),
    (re.compile("[őű]", re.IGNORECASE), "hu"),
    (re.compile("[ğş]", re.IGNORECASE), "tr"),
    (re.compile("[ąęłżźś]", re.IGNORECASE), "pl"),
)
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


@lru_cache(maxsize=256)
def other_than_english(text: str) -> str:
    """The primary tag, or empty where nothing speaks against English."""
    words = [word.lower().replace("’", "'") for word in _WORD.findall(text)]
    english = english_words(text)
    counts = {tag: sum(word in known for word in words) for tag, known in _WORDS.items()}
    best = max(counts, key=lambda tag: counts[tag])
    if not english:
        for letters, tag in _LETTERS:
            if letters.search(text):
                return tag
    sure = any(word in _SURE and word in _WORDS[best] for word in words)
    return (
        best
        if (sure and counts[best] > english) or (counts[best] > 1 and counts[best] > english + 1)
        else ""
    )


def english_words(text: str) -> int:
    """How many little words of English are in it."""
    return sum(word.lower().replace("’", "'") in _ENGLISH for word in _WORD.findall(text))
