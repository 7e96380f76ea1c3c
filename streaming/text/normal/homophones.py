"""A common character for each syllable of Mandarin, for voices that take no phones.

So that pinyin in a text, ``[h][ào]``, is spoken as 号 and not spelt. Of the characters with one
reading the commonest stands, after pypinyin's readings, which a test compares the table with; the
five of a syllable are its tones. Knows: the table. Does not know: where pinyin stands in a text.
"""

from __future__ import annotations

_TABLE = """
a 阿嗄--啊, ai 哀癌矮爱, an 安-俺案, ang 肮昂-盎, ao 凹熬拗奥, ba 巴拔把坝吧, bai 擘白摆败, ban 班-板办,
bang 帮-榜棒, bao 褒薄保报, bei 悲-北备呗, ben 奔-本笨, beng 崩甭-蹦, bi 逼鼻笔必, bian 编-贬变,
biao 标-表鳔, bie 鳖别瘪, bin 宾--鬓, bing 兵-饼病, bo 拨博簸檗卜, bu 逋醭补不, ca 擦-礤, cai 猜财彩菜,
can 参残惨粲, cang 苍藏, cao 操槽草, ce ---测, cen -岑, ceng 噌层-蹭, cha 叉茶衩岔, chai 钗豺-虿,
chan 搀蝉产颤, chang 昌肠场唱, chao 钞潮炒耖, che 车-扯彻, chen 嗔尘碜衬, cheng 撑成骋秤, chi 痴持齿赤,
chong 充崇宠铳, chou 抽筹丑臭, chu 出锄楚触, chuai 揣--啜, chuan 川船喘串, chuang 疮床闯创, chui 炊锤,
chun 春纯蠢, chuo 踔--辍, ci 呲词此赐, cong 聪丛, cou ---凑, cu 粗徂-醋, cuan 撺--窜, cui 催-璀翠,
cun 村存忖寸, cuo 撮嵯脞错, da 搭达打大, dai 呆-歹带, dan 丹-胆旦, dang 当-党荡, dao 刀-导到, de -德--的,
deng 灯-等瞪, di 低涤底帝, dian 颠-点电, diao 雕--吊, die 跌叠, ding 丁-顶定, diu 丢, dong 东-懂动,
dou 兜-抖豆, du 督独睹妒, duan 端-短断, dui 堆--对, dun 敦-盹钝, duo 多夺躲舵, e 婀额-饿, ei -诶,
en 恩--摁, er -儿尔二, fa 发罚法珐, fan 翻凡返饭, fang 芳防访放, fei 飞肥斐费, fen 纷坟粉愤, feng 风逢讽凤,
fou --否, fu 肤浮府复, ga 嘎噶尕尬, gai 该-改盖, gan 肝-敢干, gang 刚-港戆, gao 糕-稿告, ge 歌阁哿个,
gei --给, gen 根哏艮亘, geng 耕-梗更, gong 公-拱贡, gou 钩-狗垢, gu 孤-鼓顾, gua 瓜-寡挂, guai 乖-拐怪,
guan 关-管贯, guang 光-广逛, gui 归-鬼贵, gun --滚棍, guo 锅国果过, ha 哈蛤, hai 嗨孩海骇, han 蚶寒喊汉,
hang 夯航-沆, hao 蒿毫好号, he 喝河-鹤, hei 黑, hen -痕很恨, heng 亨衡, hong 轰鸿哄讧, hou -猴吼后,
hu 乎胡虎户, hua 花华-话, huai -槐-坏, huan 欢环缓换, huang 肓黄谎, hui 灰回悔汇, hun 婚魂-诨, huo 豁活火货,
ji 鸡极挤计, jia 加颊甲架, jian 坚-简建, jiang 江-奖匠, jiao 交-搅较, jie 街竭解界, jin 今-锦进,
jing 京-警镜, jiong 扃-迥, jiu 纠-酒就, ju 驹局举聚, juan 镌-卷倦, jue 撅绝, jun 军--峻, ka 喀-卡,
kai 开-慨忾, kan 刊-坎看, kang 糠扛-抗, kao 尻-考靠, ke 柯壳可克, ken --肯裉, keng 吭, kong 空-孔控,
kou 抠-口扣, ku 哭-苦库, kua 夸-垮跨, kuai --蒯快, kuan 宽-款, kuang 筐狂夼矿, kui 窥揆跬愧, kun 坤-悃困,
kuo ---阔, la 拉剌喇辣啦, lai -来-赖, lan -兰懒烂, lang 啷狼朗浪, lao 捞劳老烙, le 肋--乐了, lei 勒雷磊类嘞,
leng -棱冷愣, li 哩璃理力, lia --俩, lian -连脸练, liang -梁两谅, liao 撩疗蓼料, lie --咧烈,
lin 拎林凛吝, ling -灵领另, liu 溜流柳六, long -龙拢, lou -楼篓镂, lu 噜炉鲁录氇, luan -鸾卵乱, lun 抡轮-论,
luo -螺裸落, lv -驴履律, lve ---略, ma 妈麻马骂吗, mai -埋买卖, man 颟瞒满漫, mang -盲蟒, mao 猫茅卯帽,
me ----么, mei -眉美媚, men -门-闷们, meng -蒙猛梦, mi 眯弥米密, mian -棉勉面, miao 喵苗渺庙,
mie 乜--灭, min -民敏, ming -鸣酩命, miu ---谬, mo 摸魔抹默, mou 哞谋某, mu -毪母目, n -嗯, na -拿哪纳,
nai --奶奈, nan 囡男赧, nang 囔囊攮, nao 孬挠脑闹, ne ---讷呢, nei --馁内, nen ---嫩, neng -能,
ni 妮泥你逆, nian 拈黏捻念, niang -娘-酿, niao --袅尿, nie 捏--蹑, nin -您, ning -凝-佞, niu 妞牛扭,
nong -农-弄, nou ---耨, nu -奴努怒, nuan --暖, nuo -挪-诺, nv --女恧, nve ---虐, o 喔哦,
ou 欧-偶怄, pa 啪琶-怕, pai 拍牌-派, pan 攀盘-判, pang 滂庞耪胖, pao 抛刨跑炮, pei 胚陪-配, pen 喷盆,
peng 烹篷捧碰, pi 披皮匹僻, pian 篇骈-骗, piao 飘瓢殍票, pie 撇-苤, pin 拼贫品聘, ping 娉评, po 泼婆颇破,
pou 剖掊, pu 仆蒲普铺, qi 欺旗起器, qia 掐--恰, qian 千钱浅欠, qiang 枪墙抢炝, qiao 敲桥巧俏, qie --且窃,
qin 亲琴寝沁, qing 轻情请庆, qiong 芎穷, qiu 秋求糗, qu 趋渠取去, quan 圈权犬劝, que 阙瘸-确, qun 逡群,
ran -然染, rang -瓤壤让, rao -饶扰绕, re --惹热, ren -人稔认, reng 扔仍, ri ---日, rong 茸荣冗,
rou -柔-肉, ru -如辱入, ruan --软, rui -蕤蕊锐, run ---润, ruo ---弱, sa 撒-洒萨, sai 腮--赛,
san 三-伞散, sang 桑-嗓丧, sao 骚-嫂埽, se ---瑟, sen 森, seng 僧, sha 杀啥傻厦, shai 筛--晒,
shan 山-闪善, shang 商-赏上裳, shao 烧勺少绍, she 奢蛇舍社, shen 深神审肾, sheng 生绳省剩, shi 师时使世匙,
shou 收-手瘦扌, shu 书熟鼠树, shua 刷-耍, shuai 摔-甩帅, shuan 栓--涮, shuang 霜-爽, shui -谁水睡氵,
shun --吮顺, shuo 说--硕, si 丝-死四, song 松-耸送, sou 搜-擞嗽, su 苏俗-素, suan 酸--算, sui 睢随髓岁,
sun 孙-损, suo 缩-所-嗦, ta 他-塔踏, tai 胎台-泰, tan 贪谈坦炭, tang 汤堂倘烫, tao 滔逃讨套, te ---特,
teng -藤, ti 剔题体替, tian 天田舔掭, tiao 挑条窕跳, tie 贴-铁餮, ting 厅庭艇, tong 通铜统痛, tou 偷头钭透,
tu 突图土兔, tuan 湍团疃彖, tui 推颓腿退, tun 吞屯氽, tuo 托驼妥唾, wa 挖娃瓦袜哇, wai 歪-崴外, wan 弯玩晚腕,
wang 汪王网望, wei 微维伪未, wen 温文稳问, weng 翁-蓊瓮, wo 窝-我卧, wu 屋无五物, xi 西席洗细, xia 瞎瑕-下,
xian 先贤险线, xiang 香详想向, xiao 消淆小笑, xie 些协写屑, xin 心--信忄, xing 星形醒性, xiong 胸雄,
xiu 修-朽秀, xu 虚徐许序蓿, xuan 宣悬选炫, xue 靴学雪血, xun 熏循-训, ya 鸭涯哑亚呀, yan 烟颜偃艳, yang 央羊养样,
yao 腰摇咬药, ye 掖爷冶业, yi 伊宜蚁义, yin 音银引印, ying 莺营影硬, yo 哟, yong 拥喁勇用, you 幽尤友右,
yu 纡鱼宇玉, yuan 冤原远院, yue 约--岳, yun 晕云允韵, za 匝杂咋, zai 灾-宰在, zan 簪咱攒赞, zang 赃-驵葬,
zao 遭凿早皂, ze -泽-昃, zei -贼, zen --怎谮, zeng 憎--赠, zha 扎闸眨诈, zhai 摘宅窄债, zhan 瞻-展战,
zhang 张-掌丈, zhao 招-沼照, zhe 遮辙者这着, zhen 真-诊阵, zheng 争-整证, zhi 织直止制, zhong 终-冢仲,
zhou 周轴肘骤, zhu 珠竹瞩住, zhua 抓, zhuai 拽, zhuan 专-转篆, zhuang 装--状, zhui 锥--坠,
zhun 谆-准, zhuo 捉浊, zi 资-紫自子, zong 宗-总纵, zou 邹-走奏, zu 租足组, zuan 钻-纂攥, zui --嘴罪,
zun 尊-撙, zuo -琢左坐
"""
CHARACTERS = {
    f"{syllable}{tone}": character
    for syllable, _, tones in (entry.strip().partition(" ") for entry in _TABLE.split(","))
    for tone, character in enumerate(tones, 1)
    if character != "-"
}


def character(syllable: str) -> str | None:
    """``hao4``: 号; None where no character is read so."""
    return CHARACTERS.get(syllable.replace("ü", "v"))
