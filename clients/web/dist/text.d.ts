/**
 * Text that grows, addressed both ways: the protocol counts Unicode code points, JavaScript UTF-16
 * units, and the two differ after the first emoji.
 */
/** Makes of any deltas such as are whole: a surrogate pair cut in two is joined again. */
export declare class Deltas {
    #private;
    /** What may be sent now; half a pair at the end waits for the next call. */
    push(delta: string): string;
    /** What is left when no more comes. */
    end(): string;
}
export declare class GrowingText {
    #private;
    get text(): string;
    /** Code points so far. */
    get points(): number;
    append(delta: string): void;
    /** The UTF-16 index of a code point index. */
    utf16(point: number): number;
}
