/**
 * What of the text is heard at a moment: segments and words by their place in the audio.
 *
 * Positions are samples at 48 kHz from the context's beginning; offsets are UTF-16 units.
 */

import { PTS_RATE, type SegmentMessage, type WordItem } from "./protocol.js";
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

export class Timeline {
  readonly segments: Segment[] = [];
  readonly words: Word[] = [];

  constructor(private readonly text: GrowingText) {}

  addSegment(message: SegmentMessage): Segment {
    const segment = {
      index: message.index,
      text: message.text,
      charStart: this.text.utf16(message.char_start),
      charEnd: this.text.utf16(message.char_end),
      startMs: message.pts_ms,
    };
    // A context begun anew (after its server was lost) tells its segments again.
    if (segment.charEnd > (this.segments.at(-1)?.charEnd ?? -1)) this.segments.push(segment);
    return segment;
  }

  addWords(items: WordItem[]): Word[] {
    const words = items.map((item) => ({
      text: item.text,
      charStart: this.text.utf16(item.char_start),
      charEnd: this.text.utf16(item.char_end),
      startMs: item.start_ms,
      endMs: item.end_ms,
    }));
    const known = this.words.at(-1)?.charEnd ?? -1;
    this.words.push(...words.filter((word) => word.charStart >= known));
    return words;
  }

  at(position: number): Spoken {
    const ms = (position / PTS_RATE) * 1000;
    const told = begun(this.segments, ms);
    const word = begun(this.words, ms);
    if (told === undefined) return { segment: told, word: undefined, charIndex: 0 };
    const segment = word && this.#partWith(word, told);
    if (segment === undefined) {
      return { segment: told, word: undefined, charIndex: this.#told(told) ? told.charStart : told.charEnd };
    }
    return { segment, word, charIndex: (word as Word).charEnd };
  }

  /** The part of the segment begun last in which the word is; parts are told before they are heard. */
  #partWith(word: Word, told: Segment): Segment | undefined {
    return this.segments.find(
      (part) => part.index === told.index && part.charStart <= word.charStart && word.charStart < part.charEnd,
    );
  }

  /** Whether the words of this segment are known, so that it need not light up as a whole. */
  #told(segment: Segment): boolean {
    return this.words.some((word) => word.charStart >= segment.charStart && word.charEnd <= segment.charEnd);
  }
}

/** The last item that has begun. */
function begun<T extends { startMs: number }>(items: T[], ms: number): T | undefined {
  let low = 0;
  let high = items.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((items[middle] as T).startMs <= ms) low = middle + 1;
    else high = middle;
  }
  return items[low - 1];
}
