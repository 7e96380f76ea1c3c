/**
 * The key or token that a server may ask for. A key is exchanged for a token of this page's own, so
 * that it never stands in a URL; it is kept for this tab alone.
 */

const KEPT = "cosystream.key";

export function key(): string {
  return sessionStorage.getItem(KEPT) ?? "";
}

export function keep(value: string): void {
  sessionStorage.setItem(KEPT, value);
}

/** What a new session is opened with; empty where nothing was asked for. */
export async function token(): Promise<string> {
  const own = key();
  if (own === "") return "";
  const response = await fetch("./v1/tokens", {
    method: "POST",
    headers: { ...authorization(), "Content-Type": "application/json" },
    body: JSON.stringify({ ttl_s: 60 }),
  });
  // Not a key, then, but a token that somebody else was given: the server will say.
  if (!response.ok) return own;
  return ((await response.json()) as { token: string }).token;
}

export function authorization(): Record<string, string> {
  return key() === "" ? {} : { Authorization: `Bearer ${key()}` };
}
