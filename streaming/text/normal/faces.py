"""Emoji, faces made of characters and stickers: all silent.

Knows: what a face looks like. Does not know: words. A face in brackets is told from a remark in
brackets by having no word in it: no two letters in a row, no Han character, no number.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Aligned
from streaming.text.speakable import EMOJI, EMOJI_BEFORE_MARK, INVISIBLE

_ARM = r"[╯╰╭╮ノヽヾゞ~～<>=つっシ┻━┳︵彡ﾉ┬─ⁿ۶و๑꒰꒱✧⁄ｸﾉ\\/¯_*oO°﾿凸ヘづ乁ㄏง♪♡♥☆★.。｡]"
_SIGN = r"[^\w\s()（）.,!?;:'\"…—–\-+=×÷±≤≥≠≈→\[\]{}“”‘’，。！？；：、《》「」%$€£¥@#&|/~]"
"""What is in a face and not in a remark: neither letter nor digit nor mark nor sign of reckoning."""
_WORDS = r"[A-Za-z]{2}|[\u4e00-\u76be\u76c0-\u76c9\u76cb-\u9fff]|[0-9０-９]|[A-Za-z] [A-Za-z]"
_KAOMOJI = re.compile(
    rf"(?:(?<![\w])|(?<=[\u4e00-\u9fff])|(?<=[╯╰ノヽ¯\\oO]))(?:{_ARM}{{0,4}})"
    rf"(?:[(（](?=[^()（）\n]{{0,24}}(?:{_SIGN}|(?<=[^\w\s])[_^ωДд皿益]|[ツシಠಥʖ]|[><^;；T].{{0,3}}[><^;；T]))(?:(?!{_WORDS})[^()（）\n]){{1,20}}[)）]"
    rf"|ʕ(?:(?!{_WORDS})[^\nʕʔ]){{1,12}}ʔ)(?:{_ARM}){{0,6}}"
)
_SIMPLE = re.compile(
    r"(?<![\w^])(?:\^[_.oω▽‿-]{0,2}\^|-[_.]{1,3}-|=[_.]{1,2}=|>[_.﹏]{0,2}<|[oO][_.]{1,2}[oO]|0_{1,2}0|"
    r"T[_.]{1,3}T|;[_.]{1,2};|QAQ|QWQ|QwQ|TAT|TvT|OwO|owo|UwU|uwu|XDD*|xDD*|orz|Orz|OTZ|"
    r"@[_.]{1,2}@|\._\.|\$[_.]{1,2}\$|[uU]_[uU]|¬_¬|ಠ_ಠ)(?:[;~bzZ]|(?=[^\w^])|$|(?=[\u4e00-\u9fff]))"
)
_AFTER_HAN = re.compile(
    r"(?<=[\u4e00-\u9fff])(?:T[_.]{1,3}T|Q[AWw]Q|TAT|orz|Orz|XD+|[oO][_.]{1,2}[oO]|\^[_.oω-]{0,2}\^)"
    r"(?![A-Za-z0-9])"
)
_WESTERN = re.compile(
    r"(?:(?<=\s)|(?<=[.!?,。！？，~～])|^|(?<=[\u4e00-\u9fff]))"
    r"(?:[:;=8>]{1,2}[-'^o]?[)(\]\[DPpOo3|/\\*]+|\\o/|<3+|</3|[:;]['][(]|\(:|\):)(?![\w/])"
)
_STICKER_WORDS = (
    "doge|二哈|笑哭|捂脸|微笑|大哭|流泪|偷笑|呲牙|害羞|吃瓜|狗头|赞|强|弱|爱心|心|玫瑰|抱拳|鼓掌|"
    "OK|ok|加油|思考|疑问|惊讶|发怒|怒|汗|尴尬|可怜|委屈|亲亲|飞吻|色|酷|坏笑|奸笑|阴险|白眼|抠鼻|"
    "再见|晕|睡|吐|闭嘴|鄙视|给力|威武|喵喵|打call|辣眼睛|脱单doge|妙啊|滑稽|歪嘴|星星眼|喜欢|支持|"
    "爱你|哈哈|嘻嘻|泪|泪奔|哭|生气|拜拜|握手|666|比心|送花|礼物|火|吃惊|机智|皱眉|撇嘴|调皮|难过|"
    "发呆|得意|囧|抓狂|衰|骷髅|敲打|憨笑|悠闲|奋斗|咒骂|嘘|哼|跪了|摊手|允悲|费解|挖鼻|失望|悲伤|黑线"
)
_STICKER = re.compile(
    rf"\[(?:{_STICKER_WORDS}|[\u4e00-\u9fff]{{1,4}}_[\u4e00-\u9fffA-Za-z]{{1,6}})(?:R|H)?\]"
    r"|(?<![\w:]):[a-z][a-z_]{2,24}(?:_[a-z]+)*:(?![\w:])"
)


def strip_faces(aligned: Aligned) -> None:
    """Take everything away that is a face or a picture."""
    if not aligned.text.isascii():
        aligned.sub(INVISIBLE, "")
        aligned.sub(_KAOMOJI, "")
        aligned.sub(EMOJI_BEFORE_MARK, "")
        aligned.sub(EMOJI, " ")
    elif "(" in aligned.text:
        aligned.sub(_KAOMOJI, "")
    for pattern in (_STICKER, _AFTER_HAN, _SIMPLE, _WESTERN):
        aligned.sub(pattern, "")
