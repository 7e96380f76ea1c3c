/**
 * What of the text is heard at a moment: segments and words by their place in the audio.
 *
 * Positions are samples at 48 kHz from the context's beginning; offsets are UTF-16 units.
 */
import { type SegmentMessage, type WordItem } from "./protocol.js";
import type { GrowingText } from "./text.js";
/** A piece of the text; of one that is interleaved each part is told by itself, with one `index`. */
export interface Segment {
    index: number;
    text: string;
    charStart: number;
    charEnd: number;
    startMs: number;
}
export interface Word {
    text: string;
    charStart: number;
    charEnd: number;
    startMs: number;
    endMs: number;
}
export interface Spoken {
    segment: Segment | undefined;
    /** The word being heard, where the server tells words. */
    word: Word | undefined;
    /** Everything before this UTF-16 offset has been heard or is being heard. */
    charIndex: number;
}
export declare class Timeline {
    #private;
    private readonly text;
    readonly segments: Segment[];
    readonly words: Word[];
    constructor(text: GrowingText);
    addSegment(message: SegmentMessage): Segment;
    addWords(items: WordItem[]): Word[];
    at(position: number): Spoken;
}
