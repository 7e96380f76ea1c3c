/** The measurements below the text. Knows: where each stands. Does not know: how they are made. */
import { fill } from "./texts.js";
function put(id, text) {
    document.getElementById(id).textContent = text;
}
export function figures(stats, texts) {
    const round = (ms) => (ms === undefined ? "–" : String(Math.round(ms)));
    put("first-packet", round(stats.firstPacketMs));
    put("ttfa", round(stats.ttfaMs));
    put("gaps", String(stats.underruns));
    put("buffer", fill(texts.buffer, { ms: stats.bufferMs }));
}
/** What the server measured of the same utterance; nothing where it says nothing. */
export function byServer(server, texts) {
    const told = (ms) => (ms == null ? "" : fill(texts.byServer, { ms: Math.round(ms) }));
    put("first-packet-server", told(server?.firstPacketMs));
    put("ttfa-server", told(server?.ttfaMs));
}
