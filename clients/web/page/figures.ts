/** The measurements below the text. Knows: where each stands. Does not know: how they are made. */

import type { Result, Stats } from "./sdk/index.js";
import { fill, type Texts } from "./texts.js";

function put(id: string, text: string): void {
  (document.getElementById(id) as HTMLElement).textContent = text;
}

export function figures(stats: Stats, texts: Texts): void {
  const round = (ms: number | undefined) => (ms === undefined ? "–" : String(Math.round(ms)));
  put("first-packet", round(stats.firstPacketMs));
  put("ttfa", round(stats.ttfaMs));
  put("gaps", String(stats.underruns));
  put("buffer", fill(texts.buffer, { ms: stats.bufferMs }));
}

/** What the server measured of the same utterance; nothing where it says nothing. */
export function byServer(server: Result["server"], texts: Texts): void {
  const told = (ms: number | null | undefined) => (ms == null ? "" : fill(texts.byServer, { ms: Math.round(ms) }));
  put("first-packet-server", told(server?.firstPacketMs));
  put("ttfa-server", told(server?.ttfaMs));
}
