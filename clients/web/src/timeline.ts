/**
 * What of the text is heard at a moment: segments and words by their place in the audio.
 *
 * Positions are samples at 48 kHz from the context's beginning; offsets are UTF-16 units.
 */

import { PTS_RATE, type SegmentMessage, type WordItem } from "./protocol.js";
import type { GrowingText } from "./text.js";

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
    if (message.index >= this.segments.length) this.segments.push(segment);
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
    const segment = begun(this.segments, ms);
    const word = begun(this.words, ms);
    if (segment === undefined) return { segment, word: undefined, charIndex: 0 };
    if (word === undefined || word.charStart < segment.charStart) {
      return { segment, word: undefined, charIndex: this.#told(segment) ? segment.charStart : segment.charEnd };
    }
    return { segment, word, charIndex: word.charEnd };
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
