/** What can go wrong, as the server tells it, and the few codes that only a client can know. */
export interface ErrorFields {
    status?: number | undefined;
    retryable?: boolean | undefined;
    retry_after_ms?: number | null | undefined;
    ctx?: string | undefined;
    fatal?: boolean | undefined;
}
/**
 * `code` is one of the protocol's (docs/protocol.md section 9), or of the client's own:
 * `connection_lost`, `server_unreachable`, `bad_message`, `no_decoder`, `token_failed`, `messages_missing`,
 * `refused`, and of the recorder `microphone_unavailable`, `microphone_denied`, `microphone_missing`, `microphone_failed`.
 */
export declare class CosystreamError extends Error {
    readonly code: string;
    readonly status: number;
    /** Whether trying again can help. */
    readonly retryable: boolean;
    readonly retryAfterMs: number | undefined;
    readonly ctx: string | undefined;
    /** The context has ended (or, without `ctx`, the connection). */
    readonly fatal: boolean;
    constructor(code: string, message: string, fields?: ErrorFields);
}
/** What the server's `error` message says, to be thrown. */
export declare function fromServer(message: ErrorFields & {
    code: string;
    message: string;
}): CosystreamError;
/** The message of whatever was thrown. */
export declare function reason(thrown: unknown): string;
