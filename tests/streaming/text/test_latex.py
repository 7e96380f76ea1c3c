# ruff: noqa: RUF001 - mathematical signs are meant
import pytest

from streaming.text.normal.aligned import Aligned
from streaming.text.normal.latex import signs, strip_latex


def stripped(text):
    aligned = Aligned(text)
    strip_latex(aligned)
    return aligned.text


@pytest.mark.parametrize(
    ("formula", "expected"),
    [
        (r"\frac{1}{2}", "1/2"),
        (r"\frac{a+b}{2}", "(a+b) ⁄ 2"),
        (r"x^{2} + y^{n+1}", "x^2 + y^(n+1)"),
        (r"a \leq b \neq c", "a ≤ b ≠ c"),
        (r"\sqrt{b^2 - 4ac}", "√(b^2 − 4ac)"),
        (r"\sqrt[3]{8}", "∛8"),
        (r"90^\circ", "90°"),
        (r"\text{well-known} - 5", "well-known − 5"),
        (r"y \in \mathbb{R}", "y ∈ R"),
        (r"\alpha\beta", "αβ"),
        (r"\sum_{i=1}^{n} i", "∑ i=1 → n  i"),
        (r"50\% \& \$3", "50% & $3"),
        (r"\unknown{x}", "unknown x"),
    ],
)
def test_commands_become_signs(formula, expected):
    assert signs(formula) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("So $E = mc^2$ holds.", "So E = mc^2 holds."),
        ("$$x = 1$$", "x = 1"),
        (r"\(a+b\) and \[c\]", "a+b and c"),
        ("设$a=2$，求$n$。", "设a=2，求n。"),
        ("$-3$ and $2.5$", "−3 and 2.5"),
        (r"It is 30\degree.", "It is 30°."),
    ],
)
def test_delimiters_go(text, expected):
    assert stripped(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10.",
        "From $5-$10 to $20.",
        "$HOME/bin and $PATH=1",
        r"C:\Users\bob\file",
        "It was $20 (or $30) = cheap",
        "no $ here $ at all",
    ],
)
def test_money_and_paths_are_no_formulas(text):
    assert stripped(text) == text
