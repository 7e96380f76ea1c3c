"""Runs of digits that count nothing: telephone numbers, cards, orders, rooms, trains, slang.

Knows: what comes before such a run, and how it is read out. Does not know: other numbers.
"""

from __future__ import annotations

import re

from streaming.text.normal.aligned import Make
from streaming.text.normal.chinese_numbers import by_fours, cardinal, digits, phone_digits
from streaming.text.normal.chinese_units import MEASURES

_SAYS_CODE = (
    r"(?:电话|热线|手机|号码|尾号|末尾|后四位|前四位|卡号|单号|订单|编号|编码|代码|验证码|校验码|取件码|取餐码|提货码|房间|房号|"
    r"门牌|航班|车次|密码|口令|学号|工号|证号|身份证|护照|账号|帐号|账户|户名|客服|(?:会议|座位|流水|参考|预约|取|挂|病历|发票|票|桌)号|QQ群|微信群|QQ|qq|微信|拨打|拨|致电|转|按|呼叫|"
    r"邮编|邮政编码|股票|流水号|会员号|车牌|桌号|机号|分机|序列号|ID|id|群号|邀请码|兑换码|运单|快递|工单|合同|保单|案件|批号|型号|安全码|CVV|cvv|错误码|故障码|激活码|识别码|条码|条形码|核销码|动态码|提取码|优惠码|税号|咨询|联系|统一社会信用代码|卡片号|回复)"
)
_MOBILE = re.compile(r"(?<![\d.])(?:\+?(86)[ -]?)?(1[3-9]\d)[ -]?(\d{4})[ -]?(\d{4})(?![\d.]\d|\d)")
_LANDLINE = re.compile(
    r"(?<![\d.-])(?:\+?86[ -]?)?(?:[(（]?(0\d{2,3})[)）]?[ -]?)(\d{3,4}[ -]?\d{4})(?:(?:-|转)(\d{1,5}))?(?!\d)|(?<![\d.-])([48]00)[ -]?(\d{3,4})[ -]?(\d{3,4})(?!\d)"
)
_FOREIGN = re.compile(r"(?<![A-Za-z0-9.])\+\d{1,3}(?:[ -]?\(?\d{1,5}\)?){2,5}(?!\d)")
_HELP = r"110|119|120|122|114"
_SERVICE = re.compile(
    rf"(?<![\d.])(?:10086|12306)(?!\d|\.\d|\s?(?:多|余|来)?(?:{MEASURES}))"
    rf"|(?<=[打叫拨])(?:{_HELP}|1\d{{4}}|9[56]\d{{3}})(?!\d|\.\d|\s?(?:{MEASURES}))"
    rf"|(?<![\d.第])(?:{_HELP})(?=报警|急救|火警|电话|热线|救护|警察|警务|台|查号)"
    r"|(?<![\d.])(?:10010|10000|12345|12315|12315|9[56]\d{3})(?=\s?(?:客服|热线|官网|电话|短信|人工|投诉|举报|服务|银行))"
)
_LISTED = re.compile(
    r"((?:热线|电话|客服|拨打|拨|致电|短信至?|打)(?:是|为|号码)?[:：]?\s?[零幺二三四五六七八九，]{3,20}(?:[、或和及]|或者|以及)\s?)(\d{3,5})(?!\d|\.\d)"
)
"""What follows a number that was read out, in one list with it."""
_CARD = re.compile(
    r"(?<![\d.])(?:\d{4}[ -]){3,4}\d{1,4}(?!\d)|(?<![\d.])(?:62|4|5[1-5])\d{14,17}(?!\d)"
)
_AFTER_WORD = re.compile(
    rf"({_SAYS_CODE}(?:[\u4e00-\u9fff]{{0,3}}?(?:是|为|号|到|至|码))?[\s:：#“\"]*[A-Za-z]{{0,4}}[-]?)(\d(?: \d){{2,15}}(?!\d)|\d{{3,8}}(?: \d{{3,8}}){{1,4}}(?!\d)|\d{{3,24}}(?:-\d{{1,12}}){{0,3}}|\d{{1,4}}(?:-\d{{1,12}}){{1,3}})(?![\d.]\d|\d|\s?(?:元|块|万|亿|分钟|小时|天|次|人|%))"
)
_BEFORE_WORD = re.compile(
    r"(?<![\d.A-Za-z])(\d{3,4})(?=(?:号)?(?:房间|房|室|包间|包厢|教室|会议室|航班|次列车))"
)
_TRAIN = re.compile(
    r"(?<![A-Za-z\d])(?!CNY|USD|RMB|EUR|GBP|JPY|HKD)([A-Z]{1,3})-?(\d{3,8})(?![\dA-Za-z]|\.\d)"
)
_NOT_COUNTED = rf"(?!\s?(?:多|余|来)?(?:{MEASURES}))"
_REPEATED = re.compile(
    rf"(?<![\d.,:/+A-Za-z第-])(\d)\1{{2,8}}(?![\d.,%/:\w-]|\s?[A-Za-z]){_NOT_COUNTED}(?=[\u4e00-\u9fff，。！？、~～!?\s]|$)"
    rf"|(?<![\d.,:/+A-Za-z第-])(\d)\2{{2,8}}(?=[\u4e00-\u9fff]){_NOT_COUNTED}"
)
_LAUGH = re.compile(rf"(?<![\d.,:/+A-Za-z第-])23{{3,12}}(?!\d|[.,:/%]\d){_NOT_COUNTED}")
_SLANG = re.compile(
    r"(?<![\d.,:/A-Za-z第_-])(23{2,8}|520|521|1314|5201314|1314520|886|88|996|007|985|211|9527|555+|404|10086|248|438|748|7456|94|3q)(?=\+?(?:[，。！？、~～!?\s]|$|[啦了啊哈呀的吧哦喽大工作高院校毕学福制])|\+|/(?:985|211)|\.ICU)"
    r"|(?<=[“\x22])(\d{3})(?=[”\x22])|(?<![\d.第])(520|521|618|315|1314)(?=快乐|表白|告白|情人节|大促|活动|购物|年中|促销|预售|晚会|打假|狂欢)"
)
_WORDS = {"88": "拜拜", "886": "拜拜喽", "3q": "三Q"}
_FOUR_GROUPS = 13
_SHORTEST_PHONE = 8


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


def _foreign(found: re.Match[str]) -> str | None:
    if len(re.findall(r"\d", found.group())) < _SHORTEST_PHONE:
        return None
    groups = re.findall(r"\d+", found.group())
    return "加" + "，".join(phone_digits(group) for group in groups)


def _card(found: re.Match[str]) -> str:
    return by_fours(found.group(), phone=True)


def _code(found: re.Match[str]) -> str:
    if re.fullmatch(r"\d+(?: \d{3,})+", found[2]):
        return found[1] + "，".join(map(phone_digits, found[2].split()))
    parts = found[2].replace(" ", "").split("-")
    gap = "，" if re.search("电话|手机|热线|传真", found[1]) else "杠"
    return found[1] + gap.join(_run(part) for part in parts)


def _run(part: str) -> str:
    return by_fours(part, phone=True) if len(part) >= _FOUR_GROUPS else phone_digits(part)


def _room(found: re.Match[str]) -> str:
    return phone_digits(found[1])


def _train(found: re.Match[str]) -> str:
    return found[1] + phone_digits(found[2])


def _slang(found: re.Match[str]) -> str:
    run = found[1] or found[2] or found[3]
    return _WORDS.get(run, digits(run))


def _listed(found: re.Match[str]) -> str:
    return found[1] + phone_digits(found[2])


def _masked(found: re.Match[str]) -> str:
    """``138****5678``."""
    before, stars, after = found.groups()
    return f"{phone_digits(before)}，{cardinal(stars.count('*') + stars.count('＊'))}个星号，{phone_digits(after)}"


def _book(found: re.Match[str]) -> str:
    return "，" + "，".join(map(digits, found[1].split("-")))


def _seat(found: re.Match[str]) -> str:
    return f"{found[1]}{cardinal(int(found[2]))}{found[3]}"


def _plate(found: re.Match[str]) -> str:
    """A car's number plate, ``京A·12345``."""
    return found[1] + re.sub(r"\d+", lambda run: phone_digits(run.group()), found[2])


def _hexadecimal(found: re.Match[str]) -> str:
    return "零X" + re.sub(r"\d+", lambda run: digits(run.group()), found[1])


def _unit_room(found: re.Match[str]) -> str:
    """``3-2-501``: building, entrance, room."""
    return "杠".join(
        phone_digits(part) if len(part) > 2 else cardinal(int(part)) for part in found.groups()
    )


_PROVINCES = "京津沪渝冀豫云辽黑湘皖鲁新苏浙赣鄂桂甘晋蒙陕吉闽贵粤青藏川宁琼"
RULES: tuple[tuple[re.Pattern[str], Make], ...] = (
    (re.compile(r"(?<![A-Za-z\d])0[xX]([0-9A-Fa-f]{1,16})(?![A-Za-z\d])"), _hexadecimal),
    (re.compile(r"(?<![\d*＊])[*＊]{2,}(?=\d)"), ""),
    (re.compile(r"(?<!\d)(\d{2,6})((?:\s?[*＊]{2,12}){1,4})\s?(\d{2,6})(?!\d)"), _masked),
    (re.compile(r"(?<=ISBN)[\s:：]*([\d-]{10,17}[\dXx])(?!\d)"), _book),
    (re.compile(r"(座位号?[是为:：]?\s?)(\d{1,2})([A-K])(?![A-Za-z])"), _seat),
    (re.compile(rf"([{_PROVINCES}][A-Z])[·•・]?([A-Z0-9]{{4,6}})(?![A-Za-z0-9])"), _plate),
    (re.compile(r"(?<!\d)985(?:/|和|、)211(?!\d)"), "九八五，二一一"),
    (_CARD, _card),
    (_MOBILE, _mobile),
    (_LANDLINE, _landline),
    (_FOREIGN, _foreign),
    (_AFTER_WORD, _code),
    (_BEFORE_WORD, _room),
    (
        re.compile(r"(?<![\d-])(\d{1,2})-(\d{1,2})-(\d{3,4})(?![\d-])(?=室|号|房|$|[，。、])"),
        _unit_room,
    ),
    (re.compile(r"(?<![\d.第])(\d{3})(?=路(?:公交|车|汽车|电车|[，。、！？]|$))"), _room),
    (re.compile(r"(?<=公交)(\d{3})(?![\d路.])"), _room),
    (
        re.compile(r"(?<=[A-Za-z]{2})@(\d{1,12})(?![\d.A-Za-z])"),
        lambda found: f"艾特{digits(found[1])}",
    ),
    (_TRAIN, _train),
    (_SERVICE, lambda found: phone_digits(found.group())),
    (_LISTED, _listed),
)
_LETTERS = re.compile(r"([A-Za-z_])(\d+)(?![\d.])")


def _mixed(found: re.Match[str]) -> str:
    run = found[2]
    spelt = run.startswith("0") or len(run) > 2 or found[1] == "_"
    return found[1] + (digits(run) if spelt else cardinal(int(run)))


AFTER: tuple[tuple[re.Pattern[str], Make], ...] = (
    (
        re.compile(r"(?<![\d.A-Za-z])\d[05](?=后(?![来面再又就]))"),
        lambda found: digits(found.group()),
    ),
    (_LAUGH, lambda found: digits(found.group())),
    (_SLANG, _slang),
    (_REPEATED, lambda found: digits(found.group())),
    (_LETTERS, _mixed),
)
