/**
 * What an utterance is asked with, and how the protocol names it (docs/protocol.md section 3).
 *
 * Knows: names. Does not know: defaults, which are the server's.
 */
const NAMES = {
    voice: "voice",
    language: "language",
    speed: "speed",
    seed: "seed",
    instruct: "instruct",
    lexicon: "lexicon",
    reasoning: "reasoning",
    when: "when",
    textMode: "text_mode",
    maxDelayMs: "max_delay_ms",
    priority: "priority",
};
const OPTIONS = Object.keys(NAMES);
/** The options of an utterance among others. */
export function speakOptions(options) {
    return Object.fromEntries(OPTIONS.map((name) => [name, options[name]]));
}
/** What is none of them, in words; a misspelt option would be ignored unseen. */
export function unknownOptions(options) {
    const names = Object.keys(options).filter((name) => !(name in NAMES));
    return names.map((name) => `'${name}' is no option and is ignored; there are: ${OPTIONS.join(", ")}`);
}
/** Those that are set, as `open` has them. */
export function opening(options) {
    const given = OPTIONS.filter((name) => options[name] !== undefined);
    return Object.fromEntries(given.map((name) => [NAMES[name], name === "lexicon" ? asSent(options.lexicon) : options[name]]));
}
/** Plain words become entries; the other forms are the protocol's own already. */
function asSent(lexicon) {
    if (Array.isArray(lexicon))
        return lexicon;
    const words = Object.entries(lexicon);
    if (words.some(([, say]) => typeof say !== "string"))
        return lexicon;
    return words.map(([text, say]) => ({ text, say }));
}
