/**
 * The messages of `cosystream.v1` and the header before each packet, as docs/protocol.md has them.
 *
 * Knows: shapes and numbers. Does not know: sockets, sound.
 */
export declare const SUBPROTOCOL = "cosystream.v1";
/** `pts` counts samples at this rate, whatever the codec. */
export declare const PTS_RATE = 48000;
export declare const HEADER_BYTES = 16;
export interface AudioHeader {
    first: boolean;
    last: boolean;
    /** Audio before this packet is missing. */
    discontinuity: boolean;
    silence: boolean;
    /** Sent again by a resume. */
    resent: boolean;
    sid: number;
    seq: number;
    /** Of the packet's first sample, in samples at 48 kHz from the context's beginning. */
    pts: number;
}
/** Throws `bad_message` where it is not an audio message of this version. */
export declare function parseAudio(message: ArrayBuffer): {
    header: AudioHeader;
    packet: Uint8Array;
};
export interface AudioSettings {
    codec: "opus" | "pcm_s16le";
    rate: number;
    frame_ms: number;
    bitrate: number;
    framing: string;
    pre_skip: number;
}
export interface ReadyMessage {
    type: "ready";
    session: string;
    resume_token: string;
    resumed: boolean;
    protocol: number;
    server: string;
    engine: string;
    default_voice: string;
    audio: AudioSettings;
    limits: Record<string, number>;
    /** After a resume: what the server still has. */
    contexts?: {
        ctx: string;
        sid: number;
        state: string;
        text_seq: number;
    }[];
}
export interface SegmentMessage {
    type: "segment";
    ctx: string;
    index: number;
    text: string;
    char_start: number;
    char_end: number;
    pts_ms: number;
}
export interface WordItem {
    text: string;
    char_start: number;
    char_end: number;
    start_ms: number;
    end_ms: number;
}
export interface DoneMessage {
    type: "done";
    ctx: string;
    reason: string;
    audio_ms: number;
    /** At 24 kHz. */
    samples: number;
    first_packet_ms: number | null;
    first_delta_to_packet_ms: number | null;
    ttfa_ms: number | null;
    rtf: number | null;
    metadata?: Record<string, unknown>;
}
export interface CancelledMessage {
    type: "cancelled";
    ctx: string;
    audio_sent_ms: number;
    played_ms: number;
    text_spoken: string;
    text_remaining: string;
    source: "client" | "clock";
}
export interface ErrorMessage {
    type: "error";
    code: string;
    message: string;
    status: number;
    retryable: boolean;
    retry_after_ms: number | null;
    ctx?: string;
    fatal: boolean;
}
export type ContextMessage = {
    type: "opened";
    ctx: string;
    sid: number;
    voice: string;
} | {
    type: "queued";
    ctx: string;
    position: number;
} | SegmentMessage | {
    type: "words";
    ctx: string;
    items: WordItem[];
    source: "align" | "estimate";
} | {
    type: "flushed";
    ctx: string;
    id: string;
    pts_ms: number;
} | CancelledMessage | DoneMessage;
export type ServerMessage = ReadyMessage | ContextMessage | ErrorMessage | {
    type: "warning";
    code: string;
    message: string;
    ctx?: string;
} | {
    type: "going_away";
    deadline_ms: number;
} | {
    type: "pong";
    id?: string;
};
export type ClientMessage = {
    type: string;
} & Record<string, unknown>;
