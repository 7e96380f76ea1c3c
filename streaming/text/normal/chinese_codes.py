"""Runs of digits that count nothing: telephone numbers, cards, orders, rooms, trains, slang.

Knows: what comes before such a run, and how it is read out. Does not know: other numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Make
from streaming.text.normal.chinese_numbers import by_fours, cardinal, digits, phone_digits

_SAYS_CODE = (
    r"(?:电话|热线|手机|号码|尾号|末尾|后四位|前四位|卡号|单号|订单|编号|编码|代码|验证码|校验码|取件码|取餐码|提货码|房间|房号|"
    r"门牌|航班|车次|密码|口令|学号|工号|证号|身份证|护照|账号|帐号|账户|户名|客服|(?:会议|座位|流水|参考|预约|取|挂|病历|发票|票|桌)号|QQ群|微信群|QQ|qq|微信|拨打|拨|致电|转|按|呼叫|"
    r"邮编|邮政编码|股票|流水号|会员号|车牌|桌号|机号|分机|序列号|ID|id|群号|邀请码|兑换码|运单|快递|工单|合同|保单|案件|批号|型号)"
)
_MOBILE = re.compile(r"(?<![\d.])(?:\+?(86)[ -]?)?(1[3-9]\d)[ -]?(\d{4})[ -]?(\d{4})(?![\d.]\d|\d)")
_LANDLINE = re.compile(
    r"(?<![\d.-])(?:\+?86[ -]?)?(?:[(（]?(0\d{2,3})[)）]?[ -]?)(\d{3,4}[ -]?\d{4})(?:(?:-|转)(\d{1,5}))?(?!\d)|(?<![\d.-])([48]00)[ -]?(\d{3,4})[ -]?(\d{3,4})(?!\d)"
)
_FOREIGN = re.compile(r"(?<![\w.])\+\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,5}(?!\d)")
_SERVICE = re.compile(
    r"(?<![\d.])(?:110|119|120|122|114|12345|12315|12306|10086|10010|10000|95\d{3}|96\d{3})(?=[\u4e00-\u9fff，。！？,.]|$)(?![元个人次年天块万亿米斤分秒])"
)
_CARD = re.compile(
    r"(?<![\d.])(?:\d{4}[ -]){3,4}\d{1,4}(?!\d)|(?<![\d.])(?:62|4|5[1-5])\d{14,17}(?!\d)"
)
_AFTER_WORD = re.compile(
    rf"({_SAYS_CODE}(?:[\u4e00-\u9fff]{{0,3}}?(?:是|为|号|到|至|码))?[\s:：#“\"]*[A-Za-z]{{0,4}}[-]?)(\d{{3,24}}(?:-\d{{1,12}}){{0,3}}|\d{{1,4}}(?:-\d{{1,12}}){{1,3}})(?![\d.]\d|\d|\s?(?:元|块|万|亿|分钟|小时|天|次|人|%))"
)
_BEFORE_WORD = re.compile(
    r"(?<![\d.A-Za-z])(\d{3,4})(?=(?:号)?(?:房间|房|室|包间|包厢|教室|会议室|航班|次列车))"
)
_TRAIN = re.compile(r"(?<![A-Za-z\d])([A-Z]{1,3})-?(\d{3,8})(?![\dA-Za-z]|\.\d)")
_REPEATED = re.compile(
    r"(?<![\d.,:/+A-Za-z-])(\d)\1{2,8}(?![\d.,%/:\w-]|\s?[A-Za-z])(?!\s?(?:多|余|来)?[个位名人次年天月周岁元块毛分秒件条张只台套本杯瓶份篇章节页集场届层楼米里斤克吨升倍成度美欧英日港万亿千百点款种])(?=[\u4e00-\u9fff，。！？、~～!?\s]|$)|(?<![\d.,:/+A-Za-z-])(\d)\2{2,8}(?=[\u4e00-\u9fff])(?!\s?(?:多|余|来)?[个位名人次年天月周岁元块毛分秒件条张只台套本杯瓶份篇章节页集场届层楼米里斤克吨升倍成度美欧英日港万亿千百点款种])"
)
_SLANG = re.compile(
    r"(?<![\d.,:/A-Za-z-])(23{2,8}|520|521|1314|5201314|886|88|996|007|985|211|9527|555+|404|10086|248|438|748|7456|94|3q)(?=\+?(?:[，。！？、~～!?\s]|$|[啦了啊哈呀的吧哦喽大工作高院校])|\+)"
)
_WORDS = {"88": "拜拜", "886": "拜拜喽", "3q": "三Q"}
_FOUR_GROUPS = 13


def _mobile(found: re.Match[str]) -> str:
    country = "加八六，" if found[1] else ""
    return country + "，".join(phone_digits(part) for part in found.groups()[1:])


def _landline(found: re.Match[str]) -> str:
    area, extension = found[1], found[3]
    if area is None:
        return "，".join(phone_digits(part) for part in found.groups()[3:])
    rest = re.sub("[ -]", "", found[2])
    said = f"{phone_digits(area)}，{phone_digits(rest[:4])}，{phone_digits(rest[4:])}"
    return f"{said}，转{phone_digits(extension)}" if extension else said


def _foreign(found: re.Match[str]) -> str:
    groups = re.findall(r"\d+", found.group())
    return "加" + "，".join(phone_digits(group) for group in groups)


def _card(found: re.Match[str]) -> str:
    return by_fours(found.group(), phone=True)


def _code(found: re.Match[str]) -> str:
    parts = found[2].split("-")
    return found[1] + "杠".join(_run(part) for part in parts)


def _run(part: str) -> str:
    return by_fours(part, phone=True) if len(part) >= _FOUR_GROUPS else phone_digits(part)


def _room(found: re.Match[str]) -> str:
    return phone_digits(found[1])


def _train(found: re.Match[str]) -> str:
    return found[1] + phone_digits(found[2])


def _slang(found: re.Match[str]) -> str:
    return _WORDS.get(found[1], digits(found[1]))


RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (_MOBILE, _mobile),
    (_LANDLINE, _landline),
    (_FOREIGN, _foreign),
    (_CARD, _card),
    (_AFTER_WORD, _code),
    (_BEFORE_WORD, _room),
    (_TRAIN, _train),
    (_SERVICE, lambda found: phone_digits(found.group())),
)
_LETTERS = re.compile(r"([A-Za-z])(\d+)(?![\d.])")


def _mixed(found: re.Match[str]) -> str:
    run = found[2]
    return found[1] + (digits(run) if run.startswith("0") or len(run) > 2 else cardinal(int(run)))


AFTER: tuple[tuple[re.Pattern[str], Make], ...] = (
    (
        re.compile(r"(?<![\d.A-Za-z])\d[05](?=后(?![来面再又就]))"),
        lambda found: digits(found.group()),
    ),
    (_SLANG, _slang),
    (_REPEATED, lambda found: digits(found.group())),
    (_LETTERS, _mixed),
)
