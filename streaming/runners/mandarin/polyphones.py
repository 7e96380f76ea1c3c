"""Characters of several readings, where a dictionary of phrases does not settle which is meant.

Each rule looks at what stands beside the character; the first that fits wins, and the last has no
condition where the dictionary's first reading is not the usual one. Knows: the rules, words whose
second syllable is light, surnames. Does not know: dictionaries, tone sandhi.
"""

from __future__ import annotations

import re

_NUMERAL = "一二两三四五六七八九十百千万半几数每各这那哪某多"
_BEFORE_LAND = (
    "这那当各本外内基陆土大天草湿空田场产属工旧故圣境胜飞立随满遍占阵墓绿种农耕园就目原异实此两一在"
)
_AFTER_LAND = "上下里面铁图址区方点球板位震理势道毯带主价产毕形平税租狱瓜窖中内"

_RULES: dict[str, tuple[tuple[str, str], ...]] = {
    "得": (
        ("(?<=[看听见做找想办吃买拿够用说认记])得(?=[到出])", "de5"),
        ("得(?=[到出知奖名病失胜罪意])", "de2"),
        ("(?<=[我你您他她它们谁就都也还又总可非])得", "dei3"),
        (r"^得(?=\w)", "dei3"),
        (r"(?<=\w)得", "de5"),
    ),
    "地": ((rf"(?<=\w[^{_BEFORE_LAND}])地(?=[^{_AFTER_LAND}])", "de5"),),
    "长": (
        ("长(?=长了)", "zhang3"),
        ("(?<=长)长", "chang2"),
        ("长(?=[大出成满胖高得着])", "zhang3"),
        ("(?<=[校市部处局院行队班组船厂乡县镇村区会家师首店社所股议董])长", "zhang3"),
        ("长", "chang2"),
    ),
    "还": (("还(?=[了给清钱书债款贷完])", "huan2"),),
    "数": (("数(?=[了着过]|一下|一[遍数])", "shu3"),),
    "种": (
        (f"(?<=[{_NUMERAL}])种", "zhong3"),
        ("种(?=[了着过地田树花菜草满下]|一[棵颗些])", "zhong4"),
    ),
    "只": ((f"(?<=[{_NUMERAL}])只", "zhi1"),),
    "教": (("教(?=[我你您他她它会过了])", "jiao1"),),
    "空": (("空(?=[着出下])", "kong4"), ("空", "kong1")),
    "为": (
        ("(?<=[认成作称因以变视列定评选改转译化约均即设名之最极颇更皆值仅])为(?!了)", "wei2"),
        ("为(?=[主准例期止零本难人])", "wei2"),
    ),
    "重": (("重(?=[来做试启发写说拨装建播听读组返])", "chong2"),),
    "行": (("(?<=[两三四五六七八九十几])行", "hang2"), (r"(?<=第\w)行", "hang2")),
    "背": (("背(?=[着起了]|一个)", "bei1"),),
    "量": (("量(?=[过了]|一下|一量|体温|血压)", "liang2"),),
    "没": (("没", "mei2"),),
    "朝": (("朝", "chao2"),),
    "嗯": (("嗯", "en1"),),
    "欸": (("欸", "ei1"),),
    "哦": (("哦", "o4"),),
    "啊": (("^啊", "a1"),),
    "喂": (("^喂", "wei2"),),
    "谁": (("谁", "shei2"),),
}
_COMPILED = {
    char: tuple((re.compile(pattern), reading) for pattern, reading in rules)
    for char, rules in _RULES.items()
}

_LIGHT_SECOND = """
事情 先生 东西 朋友 知道 认识 喜欢 意思 时候 地方 告诉 漂亮 便宜 明白 衣服 头发
眼睛 耳朵 休息 学生 客气 麻烦 热闹 聪明 舒服 关系 消息 名字 太阳 月亮 窗户 丈夫
护士 姑娘 打听 商量 清楚 干净 凉快 暖和 力气 脾气 运气 福气 生意 招呼 打算 故事
钥匙 豆腐 萝卜 葡萄 玻璃 石头 木头 馒头 里头 外头 前头 后头 行李 规矩 咳嗽 厉害
糊涂 委屈 晚上 早上 爸爸 妈妈 哥哥 姐姐 弟弟 妹妹 爷爷 奶奶 叔叔 舅舅 姥姥 谢谢
看看 听听 试试 想想 等等 说说 走走 坐坐 星星 宝宝 娃娃 师傅 大方 老实 扎实 结实
多么 包袱 提防 胳膊 骆驼 云彩 庄稼 粮食 点心 动静 牲口 篱笆 亲戚 亲家 女婿 媳妇
嘴巴 尾巴 下巴 队伍 秀才 状元 丫头 使唤 折腾 唠叨 吩咐 应付 答应 照顾 将就 讲究
打扮 收拾 琢磨 佩服 在乎 嫌弃 忘记 精神 吓唬 称呼 伺候 风筝 灯笼 棉花 扫帚 抽屉
稀罕 新鲜 实在 自在 踏实 利索 马虎 迷糊 啰嗦 别扭 痛快 勤快 体面 阔气
"""
LIGHT_SECOND = frozenset(re.findall(r"\w\w", _LIGHT_SECOND))
"""Words whose second syllable is light in careful speech too."""

WORDS = {"大夫": "dai4 fu5", "胡同": "hu2 tong4", "会儿": "hui4 er5", "不得": "bu4 de2"}
"""Words that the dictionary lacks or reads in the less usual way."""

SURNAMES = {
    "曾": "zeng1",
    "单": "shan4",
    "解": "xie4",
    "仇": "qiu2",
    "任": "ren2",
    "华": "hua4",
    "区": "ou1",
    "查": "zha1",
    "朴": "piao2",
    "翟": "zhai2",
    "覃": "qin2",
    "尉": "wei4",
    "盖": "ge3",
}


def settle(text: str, position: int) -> str | None:
    """The reading that the text around ``text[position]`` tells, as pinyin, where a rule fits."""
    for pattern, reading in _COMPILED.get(text[position], ()):
        if pattern.match(text, position):
            return reading
    return None


# 儿 that is a syllable of its own: what comes before it, or after it.
_OWN_SYLLABLE = re.compile("(?<=[女婴幼孤少男胎健宠育混弃])儿|儿(?=[子童女科媳歌戏孙时])")


def grows_onto(text: str, position: int) -> bool:
    """Whether the 儿 there is the r of the syllable before it."""
    return position > 0 and not _OWN_SYLLABLE.match(text, position)
