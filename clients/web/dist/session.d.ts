/**
 * One session over as many connections as it takes: hello, resume, sequence numbers, patience.
 *
 * Knows: sockets, close codes, what to do when one is lost. Does not know: contexts; who sits above
 * says again, after each `ready`, what the server does not have.
 */
import { CosystreamError } from "./errors.js";
import { type AudioHeader, type ClientMessage, type ContextMessage, type ReadyMessage, type ServerMessage } from "./protocol.js";
/**
 * `idle`: no connection, none wanted yet. `reconnecting`: lost, and being made again. `closed`: for good,
 * until `connect` is called again.
 */
export type ConnectionState = "idle" | "connecting" | "ready" | "reconnecting" | "closed";
export interface SessionOptions {
    url: string;
    token: string | undefined;
    getToken: (() => string | Promise<string>) | undefined;
    /** The `hello`, but for `resume`; asked before each connection. */
    hello(): Promise<ClientMessage>;
}
export interface SessionEvents {
    state(state: ConnectionState): void;
    ready(ready: ReadyMessage): void;
    message(message: ContextMessage | Exclude<ServerMessage, ReadyMessage>): void;
    audio(header: AudioHeader, packet: Uint8Array): void;
    /** There is no getting on: contexts that are active have failed. */
    lost(error: CosystreamError): void;
}
export declare class Session {
    #private;
    private readonly options;
    private readonly events;
    duplicates: number;
    reconnects: number;
    constructor(options: SessionOptions, events: SessionEvents);
    get state(): ConnectionState;
    /** Connect, and stay connected; harmless where it is so already. */
    connect(): void;
    /** Whether contexts are active: then the connection is watched, and made again if lost. */
    busy(busy: boolean): void;
    /** False where there is no connection; it is said again after the next `ready`. */
    send(message: ClientMessage): boolean;
    close(): void;
    /** Begin a new session, with a new `hello`. */
    restart(): void;
}
