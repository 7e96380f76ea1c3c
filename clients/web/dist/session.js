/**
 * One session over as many connections as it takes: hello, resume, sequence numbers, patience.
 *
 * Knows: sockets, close codes, what to do when one is lost. Does not know: contexts; who sits above
 * says again, after each `ready`, what the server does not have.
 */
import { credentials } from "./address.js";
import { CosystreamError, fromServer, reason } from "./errors.js";
import { parseAudio, } from "./protocol.js";
const CONNECT_MS = 10_000;
const PING_MS = 5000;
const FIRST_RETRY_MS = 250;
const MAX_RETRY_MS = 8000;
/** Contexts wait so long for a connection to come back before they fail. */
const GIVE_UP_MS = 45_000;
const ABNORMAL = 1006;
/** After these there is no use in trying again: unauthorized, protocol, resumed elsewhere. */
const FINAL = new Set([1008, 4000, 4010]);
export class Session {
    options;
    events;
    #socket;
    /** Given up without a close frame, until a newer connection has taken the session over. */
    #stale = [];
    #state = "idle";
    /** Whether there is to be a connection: from `connect` to `close`. */
    #wanted = false;
    /** Whether contexts are active. */
    #busy = false;
    /** Of attempts to connect: whatever belongs to an older one is ignored. */
    #generation = 0;
    #dialling = false;
    #retries = 0;
    /** Since when there is none. */
    #lostAt;
    #retry;
    #deadline;
    #heart;
    /** When the server last said anything. */
    #heard = 0;
    #resume;
    #accessToken;
    #lastSeq = 0;
    /** The message after which one was missing that a resume has asked for; where that brought nothing, we go on. */
    #gapAfter = -1;
    /** What the server says before it closes the connection. */
    #fatal;
    duplicates = 0;
    reconnects = 0;
    constructor(options, events) {
        this.options = options;
        this.events = events;
    }
    get state() {
        return this.#state;
    }
    /** Connect, and stay connected; harmless where it is so already. */
    connect() {
        this.#wanted = true;
        globalThis.addEventListener?.("online", this.#online);
        if (this.#state === "ready" || this.#dialling)
            return;
        clearTimeout(this.#retry);
        void this.#dial();
    }
    /** Whether contexts are active: then the connection is watched, and made again if lost. */
    busy(busy) {
        this.#busy = busy;
        if (busy && this.#state !== "ready")
            this.connect();
    }
    /** False where there is no connection; it is said again after the next `ready`. */
    send(message) {
        if (this.#state !== "ready" || this.#socket === undefined)
            return false;
        this.#socket.send(JSON.stringify(message));
        return true;
    }
    close() {
        this.#wanted = false;
        this.#resume = undefined;
        globalThis.removeEventListener?.("online", this.#online);
        this.#abandon()?.close(1000);
        this.#setState("closed");
    }
    /** Begin a new session, with a new `hello`. */
    restart() {
        this.#resume = undefined;
        this.#abandon()?.close(1000);
        this.#setState("reconnecting");
        void this.#dial();
    }
    #online = () => {
        if (this.#state === "reconnecting" && !this.#dialling)
            this.connect();
    };
    async #dial() {
        const generation = ++this.#generation;
        this.#dialling = true;
        this.#fatal = undefined;
        this.#setState(this.#state === "reconnecting" ? "reconnecting" : "connecting");
        this.#deadline = setTimeout(() => this.#fail(generation, "the server does not answer"), CONNECT_MS);
        try {
            const [hello, token] = await Promise.all([this.options.hello(), this.#token()]);
            if (generation === this.#generation)
                this.#openSocket(generation, hello, token);
        }
        catch (error) {
            if (generation !== this.#generation)
                return;
            this.#fatal = error instanceof CosystreamError ? error : new CosystreamError("token_failed", reason(error));
            this.#fail(generation, reason(error));
        }
    }
    /** A token opens one session, and the same one again to resume it. */
    async #token() {
        if (this.options.getToken === undefined)
            return this.options.token || undefined;
        if (this.#resume === undefined)
            this.#accessToken = await this.options.getToken();
        return this.#accessToken || undefined;
    }
    #openSocket(generation, hello, token) {
        const { url, protocols } = credentials(this.options.url, token);
        const socket = new WebSocket(url, protocols);
        socket.binaryType = "arraybuffer";
        const mine = () => generation === this.#generation;
        socket.onopen = () => mine() && socket.send(JSON.stringify(this.#hello(hello)));
        socket.onmessage = (event) => mine() && this.#receive(event.data, generation);
        socket.onclose = (event) => mine() && this.#closed(event.code, event.reason);
        this.#socket = socket;
    }
    #hello(hello) {
        if (this.#resume === undefined)
            return hello;
        return { ...hello, resume: { ...this.#resume, last_seq: this.#lastSeq } };
    }
    #receive(data, generation) {
        this.#heard = performance.now();
        try {
            if (typeof data !== "string") {
                const { header, packet } = parseAudio(data);
                if (this.#accept(header.seq, generation))
                    this.events.audio(header, packet);
                return;
            }
            const message = JSON.parse(data);
            if (message.type === "ready")
                this.#ready(message);
            else if (message.seq === undefined || this.#accept(message.seq, generation))
                this.#tell(message);
        }
        catch (error) {
            this.#tell({ ...BAD_MESSAGE, message: reason(error) });
        }
    }
    #tell(message) {
        if (message.type === "error" && message.ctx === undefined && message.fatal)
            this.#fatal = fromServer(message);
        this.events.message(message);
    }
    #ready(ready) {
        clearTimeout(this.#deadline);
        this.#dialling = false;
        if (this.#resume !== undefined)
            this.reconnects += 1;
        if (!ready.resumed)
            this.#lastSeq = 0;
        this.#resume = { session: ready.session, token: ready.resume_token };
        this.#retries = 0;
        this.#lostAt = undefined;
        for (const socket of this.#stale.splice(0))
            socket.close();
        this.#heart = setInterval(() => this.#beat(), PING_MS);
        this.#setState("ready");
        this.events.ready(ready);
    }
    /** Each number once, in order. One that is missing is asked for again by a resume. */
    #accept(seq, generation) {
        if (seq <= this.#lastSeq) {
            this.duplicates += 1;
            return false;
        }
        if (seq > this.#lastSeq + 1 && this.#gapAfter !== this.#lastSeq) {
            this.#gapAfter = this.#lastSeq;
            this.#fail(generation, "a message is missing");
            return false;
        }
        if (seq > this.#lastSeq + 1)
            this.#tell({ ...MISSING, message: `messages ${this.#lastSeq + 1} to ${seq - 1} never came` });
        this.#lastSeq = seq;
        return true;
    }
    /** A connection that has silently died says nothing, not even to a ping. */
    #beat() {
        if (!this.#busy)
            return;
        if (this.#heard < performance.now() - 2 * PING_MS)
            this.#fail(this.#generation, "the server has fallen silent");
        else
            this.send({ type: "ping" });
    }
    /** Give the present attempt or connection up, as if it had been lost. */
    #fail(generation, why) {
        if (generation === this.#generation)
            this.#closed(ABNORMAL, why);
    }
    #closed(code, why) {
        const fatal = this.#fatal;
        const socket = this.#abandon();
        // Not closed while it is open: our close frame would end the session that is to be resumed.
        if (socket?.readyState === WebSocket.OPEN)
            this.#stale.push(socket);
        else
            socket?.close();
        if (code !== ABNORMAL)
            this.#resume = undefined;
        if (FINAL.has(code))
            return this.#lose(fatal ?? new CosystreamError("connection_lost", why || `close ${code}`));
        if (fatal?.code === "token_failed")
            return this.#lose(fatal);
        const idle = !this.#busy && (code === 1000 || code === 4008);
        if (!this.#wanted || idle)
            return this.#setState("idle");
        this.#again(fatal, why);
    }
    #again(fatal, why) {
        const now = performance.now();
        this.#lostAt ??= now;
        if (now - this.#lostAt > GIVE_UP_MS) {
            this.#lostAt = now;
            this.events.lost(new CosystreamError("server_unreachable", why || "no connection to the server", { retryable: true }));
        }
        const wait = Math.min(MAX_RETRY_MS, FIRST_RETRY_MS * 2 ** this.#retries) * (0.8 + 0.4 * Math.random());
        this.#retries += 1;
        this.#setState("reconnecting");
        this.#retry = setTimeout(() => void this.#dial(), Math.max(wait, fatal?.retryAfterMs ?? 0));
    }
    #lose(error) {
        this.#wanted = false;
        this.#resume = undefined;
        this.#setState("closed");
        this.events.lost(error);
    }
    /** Stop listening to the present socket, and hand it out. */
    #abandon() {
        this.#generation += 1;
        this.#dialling = false;
        clearTimeout(this.#retry);
        clearTimeout(this.#deadline);
        clearInterval(this.#heart);
        const socket = this.#socket;
        this.#socket = undefined;
        return socket;
    }
    #setState(state) {
        if (state === this.#state)
            return;
        this.#state = state;
        this.events.state(state);
    }
}
const OWN = { type: "error", status: 0, retryable: false, retry_after_ms: null, fatal: false };
const BAD_MESSAGE = { ...OWN, code: "bad_message" };
const MISSING = { ...OWN, code: "messages_missing" };
