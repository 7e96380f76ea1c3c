/**
 * The server's voices, and those made of recordings: list, create, delete.
 *
 * Knows: HTTP, the form. Does not know: microphones, sessions.
 */
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
export type NewVoice = Voice & {
    warnings: string[];
};
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
export declare class Voices {
    #private;
    private readonly options;
    constructor(options?: VoicesOptions);
    list(): Promise<VoiceList>;
    /** Rejects with the server's code, such as `recording_too_short`; see docs/protocol.md section 9. */
    create(draft: VoiceDraft, { onProgress, signal }?: CreateOptions): Promise<NewVoice>;
    delete(voice: string): Promise<void>;
}
