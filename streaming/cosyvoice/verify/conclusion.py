"""The last words: what was looked at, what it comes to, what to do next.

Knows: trials, words for people. Does not know: how the sentences were spoken or heard.
"""

from __future__ import annotations

from collections.abc import Sequence

from streaming.cosyvoice.folder import Layout
from streaming.cosyvoice.verify import listening
from streaming.cosyvoice.verify.judging import Trial, Verdict, checks, is_noise, verdict
from streaming.cosyvoice.verify.report import Report

_GOOD = {Verdict.GOOD: True, Verdict.BAD: False, Verdict.UNHEARD: None}


def conclude(trials: Sequence[Trial], files: Layout, report: Report) -> Verdict:
    """Say the checks and the verdict."""
    found = checks(trials)
    report.checks(found)
    result = verdict(found)
    report.verdict(_words(result, trials, files), good=_GOOD[result])
    return result


def _words(result: Verdict, trials: Sequence[Trial], files: Layout) -> str:
    if result is Verdict.GOOD:
        return (
            f"VERIFIED: {files.folder} speaks here, and is understood. Next:\n"
            f'  python -m server --model "{files.folder}"'
        )
    if is_noise(trials):
        return (
            "NOT VERIFIED: noise was heard, and no sentence in it.\n"
            f"A checkpoint of random numbers sounds like this. Are llm.pt, flow.pt and hift.pt in\n"
            f"{files.folder} the published ones? Fetching them again checks each against its hub:\n"
            f'  python -m streaming.cosyvoice.download {files.generation} --to "{files.folder}"'
        )
    if result is Verdict.BAD:
        return (
            "NOT VERIFIED: it does not say what it should, see above.\n"
            "Listen for yourself: --out DIR keeps the recordings. Does --precision fp32 do better?"
        )
    return (
        "NOT VERIFIED: it makes sound, and nothing here can tell whether that is speech.\n"
        "To have it recognised, install a recogniser and run this again:\n"
        f"  python -m pip install {' '.join(listening.PACKAGES)}\n"
        "Or listen for yourself: --out DIR keeps the recordings."
    )
