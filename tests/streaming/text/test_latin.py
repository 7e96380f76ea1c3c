import pytest

from streaming.text.latin import english_words, other_than_english


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("Das kostet 3,50 Euro und ist nicht viel.", "de"),
        ("Guten Tag!", "de"),
        ("Il a 2 frères et une sœur.", "fr"),
        ("¿Tienes 3 niños?", "es"),
        ("Son las tres y cuesta mucho.", "es"),
        ("Você não está em casa?", "pt"),
        ("Questo è molto bello.", "it"),
        ("Het is niet van mij.", "nl"),
        ("Xin chào, bạn khỏe không?", "vi"),
        ("Jag är inte här och det är bra.", "sv"),
        ("To jest dobre, dziękuję.", "pl"),
        ("Bu çok güzel değil mi?", "tr"),
    ],
)
def test_small_words_and_letters_tell_a_language(text, language):
    assert other_than_english(text) == language


@pytest.mark.parametrize(
    "text",
    [
        "The quick brown fox.",
        "Café Müller in São Paulo is where José had a crème brûlée.",
        "El Niño and La Niña are over for now.",
        "He said: c'est la vie, and left.",
        "Los Angeles is en route to La Paz.",
        "GPT-4o v2.1",
        "",
    ],
)
def test_names_and_phrases_of_others_leave_english_english(text):
    assert other_than_english(text) == ""


def test_small_words_of_english_are_counted():
    assert english_words("It's the end of it, and I don't know.") == 8
