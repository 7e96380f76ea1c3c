"""Formulas as LaTeX writes them, as the signs that each language then says.

Knows: delimiters, the commands that chat models use. Does not know: how a sign is said. What is
between dollars is a formula where it looks like one, else it is money.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Aligned

_DISPLAYED = re.compile(
    r"\$\$(?P<a>[^$]{1,1000}?)\$\$|\\\[(?P<b>.{1,1000}?)\\\]|\\\((?P<c>.{1,500}?)\\\)", re.DOTALL
)
_INLINE = re.compile(
    r"(?<![A-Za-z0-9\\$])\$(?=[^\s$])(?P<a>(?=[^$\n]*[\\^_=<>]|[A-Za-z]\$|[A-Za-z(][^$\n]*[-+*/)]|\d*[a-z]\$|[-−]?\d[\d.]*\$|\d+[a-z]\s?[-+*/])"
    r"[^$\n]{1,300}?)(?<=[^\s$])\$(?![A-Za-z0-9$])"
)
_SIGNS = {
    "times": "×", "cdot": "×", "div": "÷", "pm": "±", "mp": "∓", "leq": "≤", "le": "≤", "leqslant": "≤", "geq": "≥", "ge": "≥",
    "geqslant": "≥", "neq": "≠", "ne": "≠", "approx": "≈", "sim": "~", "equiv": "=", "to": "→", "rightarrow": "→", "Rightarrow": "⇒",
    "implies": "⇒", "infty": "∞", "sum": "∑", "int": "∫", "prod": "∏", "partial": "∂", "nabla": "∇", "in": "∈", "notin": "∉",
    "cup": "∪", "cap": "∩", "subset": "⊂", "subseteq": "⊆", "forall": "∀", "exists": "∃", "emptyset": "∅", "angle": "∠", "perp": "⊥",
    "degree": "°", "circ": "°", "ldots": "…", "dots": "…", "cdots": "…", "lt": "<", "gt": ">", "quad": " ", "qquad": " ", "mid": "|",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "varepsilon": "ε", "zeta": "ζ", "eta": "η", "theta": "θ",
    "iota": "ι", "kappa": "κ", "lambda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ",
    "phi": "φ", "varphi": "φ", "chi": "χ", "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lambda": "Λ",
    "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω", "sin": "sine", "cos": "cosine", "tan": "tangent", "log": "log", "ln": "natural log",
    "lim": "limit", "max": "max", "min": "min", "exp": "exp", "left": "", "right": "", "displaystyle": "", "limits": "", "begin": "", "end": "",
}  # fmt: skip
_WORD_SIGNS = frozenset({"sine", "cosine", "tangent", "log", "natural log", "limit", "max", "min", "exp"})  # fmt: skip
_COMMAND = re.compile(r"\\([A-Za-z]+)")
_KNOWN = re.compile(
    rf"\\(?:{'|'.join(sorted(_SIGNS, key=len, reverse=True))}|frac|dfrac|tfrac|sqrt|text|mathbb|mathbf|mathrm|boxed)(?![A-Za-z])"
)
_LINE = re.compile(r"[^\n]*\\[A-Za-z][^\n]*")
_FRACTION = re.compile(r"\\[dtc]?frac\s*\{([^{}]*)\}\s*\{([^{}]*)\}|\\[dt]?frac(\d)(\d)")
_ROOT = re.compile(r"\\sqrt\s*(?:\[(\d+)\])?\s*\{([^{}]*)\}")
_WRAPPED = re.compile(
    r"\\(?:text|textbf|textit|mathrm|mathbf|mathbb|mathcal|mathit|operatorname|boxed|hat|bar|vec|tilde|overline|underline)\s*\{([^{}]*)\}"
)
_BOUNDS = re.compile(r"\\(sum|int|prod)\s*_(?:\{([^{}]*)\}|(\w))\s*\^(?:\{([^{}]*)\}|(\w|\\infty))")
_RAISED = re.compile(r"\^\s*\{([^{}]*)\}")
_LOWERED = re.compile(r"_\s*(?:\{([^{}]*)\}|(\w))")
_SIMPLE = re.compile(r"\s*(?:\d+|[A-Za-z])\s*\Z")
_SPACES = re.compile(r"\\[,;:!> ]|(?<!\\)[~&]")
_ESCAPED = re.compile(r"\\([%$&#_{}])")
_MINUS = re.compile(r"(?<![A-Za-z])-|-(?![A-Za-z])|(?<=\b[A-Za-z])-(?=[A-Za-z]\b)")
_DEPTH = 8


def strip_latex(aligned: Aligned) -> None:
    """Put signs for commands, and take the delimiters away."""
    if "\\" not in aligned.text and "$" not in aligned.text:
        return
    aligned.sub(_DISPLAYED, lambda found: signs(found["a"] or found["b"] or found["c"]))
    aligned.sub(_INLINE, lambda found: signs(found["a"]))
    if _KNOWN.search(aligned.text):
        aligned.sub(_LINE, lambda found: signs(found.group()))


def signs(formula: str) -> str:
    r"""``\frac{1}{2}``: 1/2, ``x^{2}``: x^2, ``\pi``: π."""
    formula = _MINUS.sub("−", _SPACES.sub(" ", formula.replace("\\\\", ", ")))
    formula = _BOUNDS.sub(
        lambda found: f"\\{found[1]} {found[2] or found[3]} → {found[4] or found[5]} ", formula
    )
    for _ in range(_DEPTH):
        before = formula
        formula = _RAISED.sub(lambda found: f"^{_grouped(found[1])}", formula)
        formula = _LOWERED.sub(_lowered, formula)
        formula = _WRAPPED.sub(r"\1", formula)
        formula = _ROOT.sub(_root, formula)
        formula = _FRACTION.sub(_fraction, formula)
        if formula == before:
            break
    formula = _ESCAPED.sub(r"\1", _COMMAND.sub(_sign, formula))
    return re.sub(r"\^\s*°", "°", formula).replace("{", "").replace("}", "").strip()


def _grouped(part: str) -> str:
    part = part.strip()
    return part if re.fullmatch(r"[-−]?\w+|\\[A-Za-z]+", part) else f"({part})"


def _lowered(found: re.Match[str]) -> str:
    return f" {(found[1] or found[2]).strip()} "


def _root(found: re.Match[str]) -> str:
    inside = found[2].strip()
    shown = inside if _SIMPLE.match(inside) else f"({inside})"
    return f"{'∛' if found[1] == '3' else '√'}{shown}"


def _fraction(found: re.Match[str]) -> str:
    top, bottom = (found[1], found[2]) if found[1] is not None else (found[3], found[4])
    if top.strip().isdecimal() and bottom.strip().isdecimal():
        return f" {top.strip()}/{bottom.strip()} "
    return f"{_part(top)} ⁄ {_part(bottom)}"


def _part(side: str) -> str:
    return side.strip() if _SIMPLE.match(side) else f"({side.strip()})"


def _sign(found: re.Match[str]) -> str:
    sign = _SIGNS.get(found[1], found[1])
    return f" {sign} " if sign in _WORD_SIGNS or sign == found[1] else sign
