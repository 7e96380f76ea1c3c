/** What can go wrong, as the server tells it, and the few codes that only a client can know. */
/**
 * `code` is one of the protocol's (docs/protocol.md section 9), or of the client's own:
 * `connection_lost`, `server_unreachable`, `bad_message`, `no_decoder`, `token_failed`, `messages_missing`,
 * `refused`, and of the recorder `microphone_unavailable`, `microphone_denied`, `microphone_missing`, `microphone_failed`.
 */
export class CosystreamError extends Error {
    code;
    status;
    /** Whether trying again can help. */
    retryable;
    retryAfterMs;
    ctx;
    /** The context has ended (or, without `ctx`, the connection). */
    fatal;
    constructor(code, message, fields = {}) {
        super(message);
        this.name = "CosystreamError";
        this.code = code;
        this.status = fields.status ?? 0;
        this.retryable = fields.retryable ?? false;
        this.retryAfterMs = fields.retry_after_ms ?? undefined;
        this.ctx = fields.ctx;
        this.fatal = fields.fatal ?? false;
    }
}
/** What the server's `error` message says, to be thrown. */
export function fromServer(message) {
    return new CosystreamError(message.code, message.message, message);
}
/** The message of whatever was thrown. */
export function reason(thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown);
}
