/**
 * The server's voices, and those made of recordings: list, create, delete.
 *
 * Knows: HTTP, the form. Does not know: microphones, sessions.
 */
import { httpUrl } from "./address.js";
import { CosystreamError, reason } from "./errors.js";
export class Voices {
    options;
    constructor(options = {}) {
        this.options = options;
    }
    async list() {
        return (await this.#fetch("/v1/voices", "GET"));
    }
    /** Rejects with the server's code, such as `recording_too_short`; see docs/protocol.md section 9. */
    create(draft, { onProgress, signal } = {}) {
        const form = new FormData();
        const { audio, language, ...texts } = draft;
        for (const [name, value] of Object.entries(texts))
            form.append(name, value);
        if (language !== undefined)
            form.append("language", language);
        form.append("audio", audio, "recording");
        return this.#send(form, onProgress, signal);
    }
    async delete(voice) {
        await this.#fetch(`/v1/voices/${encodeURIComponent(voice)}`, "DELETE");
    }
    /** XMLHttpRequest tells how much has been sent; `fetch` does not. */
    #send(form, onProgress, signal) {
        return new Promise((resolve, reject) => {
            const request = new XMLHttpRequest();
            request.open("POST", this.#url("/v1/voices"));
            for (const [name, value] of Object.entries(this.#headers()))
                request.setRequestHeader(name, value);
            request.upload.onprogress = ({ loaded, total }) => onProgress?.(total === 0 ? 1 : loaded / total);
            request.upload.onload = () => onProgress?.(1);
            request.onload = () => {
                const answer = parsed(request.responseText);
                if (request.status < 300 && answer !== undefined)
                    resolve(answer);
                else
                    reject(refusal(request.status, answer));
            };
            request.onerror = () => reject(unreachable("the request failed"));
            request.onabort = () => reject(signal?.reason);
            signal?.addEventListener("abort", () => request.abort());
            if (signal?.aborted)
                reject(signal.reason);
            else
                request.send(form);
        });
    }
    async #fetch(path, method) {
        let response;
        try {
            response = await fetch(this.#url(path), { method, headers: this.#headers() });
        }
        catch (error) {
            throw unreachable(reason(error));
        }
        const answer = parsed(await response.text());
        if (!response.ok)
            throw refusal(response.status, answer);
        return answer;
    }
    #url(path) {
        return httpUrl(this.options.url, globalThis.document?.baseURI, path);
    }
    #headers() {
        const { key } = this.options;
        const own = typeof key === "function" ? key() : key;
        return own ? { Authorization: `Bearer ${own}` } : {};
    }
}
function parsed(text) {
    try {
        return text === "" ? undefined : JSON.parse(text);
    }
    catch {
        return undefined; // a proxy's page, not our server's answer
    }
}
function refusal(status, answer) {
    const error = answer?.error;
    return new CosystreamError(error?.code ?? "refused", error?.message ?? `HTTP ${status}`, { ...error, status });
}
function unreachable(why) {
    return new CosystreamError("server_unreachable", why, { retryable: true });
}
