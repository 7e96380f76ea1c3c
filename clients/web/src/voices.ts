/**
 * The server's voices, and those made of recordings: list, create, delete.
 *
 * Knows: HTTP, the form. Does not know: microphones, sessions.
 */

import { httpUrl } from "./address.js";
import { CosystreamError, type ErrorFields, reason } from "./errors.js";

export interface Voice {
  id: string;
  name: string;
  /** Primary tags, `*` for any. */
  languages: string[];
  description: string;
  preview: boolean;
  /** Made of a recording, with this key; what follows is known of such voices alone. */
  cloned: boolean;
  language?: string;
  transcript?: string;
  consent?: string;
  /** UTC, ISO 8601. */
  created?: string;
  duration_ms?: number;
}

export interface VoiceList {
  voices: Voice[];
  default: string;
  /** Whether more can be made. */
  cloning: boolean;
  /** Of `speed`, `seed` and `instruct` those that the voices obey; the others are ignored. */
  options: string[];
}

export interface VoiceDraft {
  /** wav, flac, mp3 or ogg, 1 to 30 s of one person's speech, best 3 to 10. */
  audio: Blob;
  /** What is said in it, word for word. */
  transcript: string;
  name: string;
  /** Whose voice it is, and how they agreed to this use of it. */
  consent: string;
  language?: string | undefined;
}

/** Sentences about what would make a better voice. */
export type NewVoice = Voice & { warnings: string[] };

export interface VoicesOptions {
  /** The server; without one, the place of the page. */
  url?: string | URL;
  /** An API key that whoever reads the page has entered. Never build one into a page. */
  key?: string | (() => string);
}

export interface CreateOptions {
  /** How much of the recording has been sent, 0 to 1; then the voice is being made. */
  onProgress?: (sent: number) => void;
  signal?: AbortSignal;
}

export class Voices {
  constructor(private readonly options: VoicesOptions = {}) {}

  async list(): Promise<VoiceList> {
    return (await this.#fetch("/v1/voices", "GET")) as VoiceList;
  }

  /** Rejects with the server's code, such as `recording_too_short`; see docs/protocol.md section 9. */
  create(draft: VoiceDraft, { onProgress, signal }: CreateOptions = {}): Promise<NewVoice> {
    const form = new FormData();
    const { audio, language, ...texts } = draft;
    for (const [name, value] of Object.entries(texts)) form.append(name, value);
    if (language !== undefined) form.append("language", language);
    form.append("audio", audio, "recording");
    return this.#send(form, onProgress, signal);
  }

  async delete(voice: string): Promise<void> {
    await this.#fetch(`/v1/voices/${encodeURIComponent(voice)}`, "DELETE");
  }

  /** XMLHttpRequest tells how much has been sent; `fetch` does not. */
  #send(form: FormData, onProgress: CreateOptions["onProgress"], signal: AbortSignal | undefined): Promise<NewVoice> {
    return new Promise((resolve, reject) => {
      const request = new XMLHttpRequest();
      request.open("POST", this.#url("/v1/voices"));
      for (const [name, value] of Object.entries(this.#headers())) request.setRequestHeader(name, value);
      request.upload.onprogress = ({ loaded, total }) => onProgress?.(total === 0 ? 1 : loaded / total);
      request.upload.onload = () => onProgress?.(1);
      request.onload = () => {
        const answer = parsed(request.responseText);
        if (request.status < 300 && answer !== undefined) resolve(answer as NewVoice);
        else reject(refusal(request.status, answer));
      };
      request.onerror = () => reject(unreachable("the request failed"));
      request.onabort = () => reject(signal?.reason);
      signal?.addEventListener("abort", () => request.abort());
      if (signal?.aborted) reject(signal.reason);
      else request.send(form);
    });
  }

  async #fetch(path: string, method: string): Promise<unknown> {
    let response: Response;
    try {
      response = await fetch(this.#url(path), { method, headers: this.#headers() });
    } catch (error) {
      throw unreachable(reason(error));
    }
    const answer = parsed(await response.text());
    if (!response.ok) throw refusal(response.status, answer);
    return answer;
  }

  #url(path: string): string {
    return httpUrl(this.options.url, globalThis.document?.baseURI, path);
  }

  #headers(): Record<string, string> {
    const { key } = this.options;
    const own = typeof key === "function" ? key() : key;
    return own ? { Authorization: `Bearer ${own}` } : {};
  }
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    return undefined; // a proxy's page, not our server's answer
  }
}

function refusal(status: number, answer: unknown): CosystreamError {
  const error = (answer as { error?: ErrorFields & { code?: string; message?: string } } | undefined)?.error;
  return new CosystreamError(error?.code ?? "refused", error?.message ?? `HTTP ${status}`, { ...error, status });
}

function unreachable(why: string): CosystreamError {
  return new CosystreamError("server_unreachable", why, { retryable: true });
}
