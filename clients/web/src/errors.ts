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
export class CosystreamError extends Error {
  readonly code: string;
  readonly status: number;
  /** Whether trying again can help. */
  readonly retryable: boolean;
  readonly retryAfterMs: number | undefined;
  readonly ctx: string | undefined;
  /** The context has ended (or, without `ctx`, the connection). */
  readonly fatal: boolean;

  constructor(code: string, message: string, fields: ErrorFields = {}) {
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
export function fromServer(message: ErrorFields & { code: string; message: string }): CosystreamError {
  return new CosystreamError(message.code, message.message, message);
}

/** The message of whatever was thrown. */
export function reason(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown);
}
