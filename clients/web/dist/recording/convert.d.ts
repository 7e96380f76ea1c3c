/**
 * A recording in a file that servers read: those that they do not (m4a of a telephone, webm of a
 * browser) are decoded by the browser and written as WAVE.
 */
/** The file itself where servers read it, or the browser cannot; else the same sound as WAVE. */
export declare function asReadable(file: Blob): Promise<Blob>;
