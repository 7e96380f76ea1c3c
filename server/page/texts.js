/** Everything the page says, in English and Chinese, and which of the two the reader wants. */
import { CLONING } from "./cloning-texts.js";
const en = {
    ...CLONING.en,
    pageLanguage: "en",
    other: "中文",
    otherLabel: "切换到中文",
    title: "Speech that starts before the text is finished",
    lead: "Write or paste something and press Speak. Or let it speak while you type.",
    desk: "Text to speech",
    text: "Text to speak",
    placeholder: "Write something to be spoken…",
    speak: "Speak",
    stop: "Stop",
    voice: "Voice",
    speed: "Speed",
    defaultVoice: "default",
    serverVoices: "Voices of the server",
    instruct: "How to speak (optional)",
    instructExample: "For example: speak slowly and kindly.",
    live: "Speak while I type",
    llm: "Let an LLM write",
    keys: "Ctrl+Enter speaks, Esc stops",
    hear: "Click to hear",
    key: "This server asks for an API key or a token",
    connect: "Connect",
    dismiss: "Dismiss",
    figures: "Measurements",
    firstPacket: "First packet",
    ttfa: "First sound",
    gaps: "Gaps",
    path: "Sound path",
    explain: "First packet: from the text that completed the first phrase to the arrival of its audio. First sound: the same, to the loudspeaker. Both measured in this page.",
    program: "From a program",
    byServer: "{ms} ms by the server",
    buffer: "{ms} ms in hand",
    webcodecs: "WebCodecs",
    wasm: "WebAssembly",
    pcm: "PCM",
    worklet: "AudioWorklet",
    scheduled: "scheduled buffers",
    idle: "not connected",
    connecting: "connecting…",
    ready: "connected",
    reconnecting: "connection lost, trying again…",
    closed: "disconnected",
    speaking: "Speaking.",
    finished: "Done.",
    stopped: "Stopped.",
    loading: "The server is loading its voices, which takes some seconds or a minute. What was asked for is spoken then.",
    hintLive: "Go on typing at the end of the text: each word is spoken as it comes.",
    hintLanguages: "This voice speaks {languages}.",
    voiceChosen: "No voice was chosen, so one that speaks this text reads it.",
    hintInsecure: "This page was opened over plain http, where browsers give no low-latency sound: it plays through a fallback. Use https or localhost for the best.",
    hintPcm: "Opus cannot be decoded in this browser: the sound comes uncompressed.",
    nothing: "There is nothing to speak yet: write something first.",
    unwritten: "There was no word in this text that can be spoken.",
    ignored: "The voice ignores an option: {detail}",
    draining: "The server is about to stop. What was begun will be finished.",
    unsupported_language: "This voice cannot speak this text: it speaks {languages}. Choose another voice, or add one as said below.",
    unauthorized: "The server did not accept this. Enter a key or a token that is valid.",
    forbidden_origin: "The server does not accept this page's address. Whoever runs it can allow it as said below.",
    unknown_voice: "The server has no such voice. Choose another one.",
    text_too_long: "The text is too long for this server. Speak it in parts.",
    overloaded: "The server is at its limit. Try again in a moment.",
    too_many_sessions: "The server is at its limit. The page keeps trying.",
    engine_loading: "The server is still loading its voices. Try again in a moment.",
    engine_restarted: "The speech engine was started again. Press Speak once more.",
    resumed_elsewhere: "This session went on in another window.",
    server_unreachable: "The server cannot be reached. The page keeps trying.",
    voicesFailed: "The list of voices cannot be had.",
    failed: "That did not work.",
    languages: { en: "English", zh: "Chinese" },
    sample: "Hello! The first words of this text are spoken while the rest of it is still on its way. Press Stop whenever you like, change something, and press Speak again.",
    answer: "That is a good question. Here is what happens: I write one word after the other, about twenty pieces a second, and every piece goes to the server at once. It does not wait until I have finished. As soon as the first phrase is complete it is spoken, and the next one is made while you listen. So you hear me think, and if I am wrong, you can interrupt me at any moment.",
};
const zh = {
    ...CLONING.zh,
    pageLanguage: "zh-CN",
    other: "English",
    otherLabel: "Switch to English",
    title: "文字还没写完，声音已经响起",
    lead: "输入或粘贴一段文字，点“朗读”；也可以边打字边听。",
    desk: "文字转语音",
    text: "要朗读的文字",
    placeholder: "写点什么……",
    speak: "朗读",
    stop: "停止",
    voice: "声音",
    speed: "语速",
    defaultVoice: "默认",
    serverVoices: "服务器的声音",
    instruct: "怎么说（可不填）",
    instructExample: "例如：请用四川话说。",
    live: "边打字边朗读",
    llm: "让大模型来写",
    keys: "Ctrl + Enter 朗读，Esc 停止",
    hear: "点击播放声音",
    key: "此服务器需要 API 密钥或令牌",
    connect: "连接",
    dismiss: "关闭",
    figures: "测量结果",
    firstPacket: "首包",
    ttfa: "首个声音",
    gaps: "卡顿",
    path: "播放路径",
    explain: "首包：从第一句话的文字到齐，到收到它的第一个音频包。首个声音：同一时刻起，到扬声器发声。两者均由本页面测得。",
    program: "在程序里用",
    byServer: "服务器测得 {ms} 毫秒",
    buffer: "缓冲 {ms} 毫秒",
    webcodecs: "WebCodecs",
    wasm: "WebAssembly",
    pcm: "PCM",
    worklet: "AudioWorklet",
    scheduled: "定时缓冲",
    idle: "未连接",
    connecting: "正在连接……",
    ready: "已连接",
    reconnecting: "连接中断，正在重试……",
    closed: "已断开",
    speaking: "正在朗读。",
    finished: "朗读完毕。",
    stopped: "已停止。",
    loading: "服务器正在加载声音，需要几秒到一分钟，之后就会读出来。",
    hintLive: "请在文字末尾继续输入：每个词一到就会读出来。",
    hintLanguages: "这个声音会说：{languages}。",
    voiceChosen: "没有选定声音，所以由会说这种语言的声音来朗读。",
    hintInsecure: "本页面通过普通 http 打开，浏览器在这种情况下不提供低延迟音频，因此使用了备用方式。用 https 或 localhost 打开效果最好。",
    hintPcm: "此浏览器无法解码 Opus，声音以未压缩的形式传输。",
    nothing: "还没有可朗读的内容，请先写点什么。",
    unwritten: "这段文字里没有可以读出来的词。",
    ignored: "这个声音不支持某个选项：{detail}",
    draining: "服务器即将停止，已经开始的内容会读完。",
    unsupported_language: "这个声音读不了这段文字，它会说：{languages}。请换一个声音，或按下面的说明添加。",
    unauthorized: "服务器没有接受。请输入有效的密钥或令牌。",
    forbidden_origin: "服务器不接受本页面的地址。运行服务器的人可以按下面的说明放行。",
    unknown_voice: "服务器上没有这个声音，请换一个。",
    text_too_long: "文字太长，请分段朗读。",
    overloaded: "服务器已满载，请稍后再试。",
    too_many_sessions: "服务器已满载，页面会继续重试。",
    engine_loading: "声音还在加载，请稍后再试。",
    engine_restarted: "语音引擎刚刚重启，请再点一次“朗读”。",
    resumed_elsewhere: "会话已在另一个窗口中继续。",
    server_unreachable: "无法连接服务器，页面会继续重试。",
    voicesFailed: "无法取得声音列表。",
    failed: "没有成功。",
    languages: { en: "英语", zh: "中文" },
    sample: "你好！这段文字的开头已经读出来的时候，后面的文字还在路上。随时可以点“停止”，改几个字，再点“朗读”。",
    answer: "这是个好问题。事情是这样的：我一个词一个词地写，每秒大约二十个片段，每个片段马上就发给服务器。它不会等我写完。第一句话一完整，就会读出来，同时准备下一句。所以你能听见我在想什么；如果我说错了，随时可以打断我。",
};
export const LANGUAGES = { en, zh };
const KEPT = "cosystream.language";
/** The reader's own choice, or the browser's. */
export function preferred() {
    const wanted = localStorage.getItem(KEPT) ?? navigator.languages.find((tag) => /^(en|zh)\b/i.test(tag)) ?? "en";
    return wanted.toLowerCase().startsWith("zh") ? "zh" : "en";
}
export function prefer(language) {
    localStorage.setItem(KEPT, language);
}
/** Put values in for `{names}`. */
export function fill(text, values) {
    return text.replace(/\{(\w+)\}/g, (_, name) => String(values[name] ?? ""));
}
/** Put the texts where the document has `data-text`, `data-label` and `data-placeholder`. */
export function translate(texts) {
    const named = texts;
    const text = (name) => named[name ?? ""] ?? "";
    document.documentElement.lang = texts.pageLanguage;
    for (const element of document.querySelectorAll("[data-text]")) {
        element.textContent = text(element.dataset["text"]);
    }
    for (const element of document.querySelectorAll("[data-label]")) {
        element.setAttribute("aria-label", text(element.dataset["label"]));
    }
    for (const element of document.querySelectorAll("[data-placeholder]")) {
        element.placeholder = text(element.dataset["placeholder"]);
    }
}
