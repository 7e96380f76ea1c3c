"""Units of measure in Chinese.

Knows: symbols and their names. Does not know: numbers, sentences.
"""

from __future__ import annotations

import re

MEASURES = "个|位|名|人|次|年|天|月|周|岁|元|块|毛|分钟|小时|秒|件|条|张|只|台|套|本|杯|瓶|份|篇|章|节|页|集|场|届|层|米|千米|公里|里|斤|公斤|千克|克|吨|升|倍|成|度|美元|欧元|英镑|日元|港元|万|亿|千|百|点|款|种|项|家|间|所|辆|架|艘|部|门|颗|粒|棵|朵|双|对|副|把|支|枝|根|块钱|毛钱|句|字|行|列|组|队|步|口|下|遍|趟|回|声|顿|餐|顶|盏|盒|箱|包|袋|桶|罐|碗|盘|锅|串|束|堆|群|批|轮|季|刻钟|星期|礼拜|世纪|平米|平方米|平方公里|立方米|亩|公顷|寸|尺|丈|英寸|英尺|英里|夜|晚|股|票|枚|滴|片|例|桩|笔|层楼"
"""What is counted by 两 and not 二; ranks (楼, 班, 级, 期) are not among them."""

_UNITS = {
    "km": "千米", "m": "米", "cm": "厘米", "mm": "毫米", "dm": "分米", "µm": "微米", "μm": "微米", "nm": "纳米",
    "kg": "千克", "KG": "千克", "Kg": "千克", "g": "克", "mg": "毫克", "µg": "微克", "μg": "微克", "t": "吨", "lb": "磅", "oz": "盎司",
    "dL": "分升", "IU": "国际单位", "L": "升", "l": "升", "ml": "毫升", "mL": "毫升", "ML": "毫升",
    "h": "小时", "min": "分钟", "mins": "分钟", "s": "秒", "ms": "毫秒", "µs": "微秒", "μs": "微秒", "ns": "纳秒",
    "Hz": "赫兹", "kHz": "千赫兹", "KHz": "千赫兹", "MHz": "兆赫兹", "GHz": "吉赫兹",
    "W": "瓦", "kW": "千瓦", "KW": "千瓦", "MW": "兆瓦", "kWh": "千瓦时", "Wh": "瓦时", "kw": "千瓦",
    "V": "伏", "v": "伏", "kV": "千伏", "KV": "千伏", "mV": "毫伏", "A": "安", "mA": "毫安", "mAh": "毫安时", "Ω": "欧姆", "kΩ": "千欧",
    "J": "焦耳", "kJ": "千焦", "cal": "卡", "kcal": "千卡", "N": "牛", "Pa": "帕", "kPa": "千帕", "KPa": "千帕", "hPa": "百帕", "MPa": "兆帕",
    "bit": "比特", "B": "字节", "KB": "KB", "kB": "KB", "MB": "兆", "GB": "G", "TB": "TB", "Mbps": "兆每秒", "kbps": "千比特每秒", "Gbps": "吉比特每秒",
    "dB": "分贝", "db": "分贝", "px": "像素", "mol": "摩尔", "ha": "公顷", "rpm": "转每分钟", "fps": "帧每秒", "mph": "英里每小时", "bpm": "次每分钟", "dpi": "DPI", "ft": "英尺", "in": "英寸", "mi": "英里",
    "℃": "摄氏度", "°C": "摄氏度", "ºC": "摄氏度", "℉": "华氏度", "°F": "华氏度", "°": "度", "º": "度", "K": "K",
    "㎡": "平方米", "㎥": "立方米", "㎞": "千米", "㎝": "厘米", "㎜": "毫米", "㎏": "千克", "㎎": "毫克", "㏄": "毫升", "㏑": "ln", "ppm": "ppm", "cc": "毫升", "nmol": "纳摩尔", "mmol": "毫摩尔", "mmHg": "毫米汞柱", "cmH2O": "厘米水柱",
}  # fmt: skip
_NOT_ALONE = frozenset({"B", "K", "A", "in", "N", "ppm", "㏑", "l", "t", "v"})
"""Read as a letter or a word where they stand alone behind a number."""
_HAN_UNIT = r"[斤克米升次个人天年月日秒分时元块吨亩度]|公斤|公里|千克|小时|分钟|平方米|平米|立方米|千瓦时|人次"
_POWERS = {"²": "平方", "2": "平方", "^2": "平方", "³": "立方", "3": "立方", "^3": "立方"}

_ONE = "|".join(re.escape(unit) for unit in sorted(set(_UNITS) - _NOT_ALONE, key=len, reverse=True))
_ALL = "|".join(re.escape(unit) for unit in sorted(_UNITS, key=len, reverse=True))
_POWER = r"(?:[²³]|\^[23]|(?<=m)[23])?"
UNIT = rf"(?:{_ONE}|(?:{_ALL})(?=[/·])){_POWER}(?:[·⋅](?:{_ALL}){_POWER})?(?:/(?:{_ALL}|{_HAN_UNIT}){_POWER}){{0,3}}(?![A-Za-z0-9²³])"
"""A unit and what it is divided by; no more than three of those."""

PER = rf"(?:(?:{_ALL}){_POWER}|{_HAN_UNIT})"
"""What a price is for: ¥5/kg."""

_PART = re.compile(rf"({_ALL})(\^?[23²³])?\Z")


def name(unit: str) -> str:
    """``km/s``: 千米每秒."""
    return "每".join(_product(part) for part in unit.split("/"))


def _product(part: str) -> str:
    return "".join(_part(factor) for factor in re.split("[·⋅]", part))


def _part(unit: str) -> str:
    found = _PART.match(unit)
    if found is None:
        return unit
    return _POWERS.get(found[2] or "", "") + _UNITS[found[1]]
