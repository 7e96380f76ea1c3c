/**
 * Text that grows, addressed both ways: the protocol counts Unicode code points, JavaScript UTF-16
 * units, and the two differ after the first emoji.
 */
/** Makes of any deltas such as are whole: a surrogate pair cut in two is joined again. */
export class Deltas {
    #half = "";
    /** What may be sent now; half a pair at the end waits for the next call. */
    push(delta) {
        const text = this.#half + delta;
        const ends = text.length > 0 && isHigh(text.charCodeAt(text.length - 1));
        this.#half = ends ? text.slice(-1) : "";
        return wellFormed(ends ? text.slice(0, -1) : text);
    }
    /** What is left when no more comes. */
    end() {
        const rest = wellFormed(this.#half);
        this.#half = "";
        return rest;
    }
}
export class GrowingText {
    #text = "";
    #points = 0;
    /** The code point index of each character that takes two UTF-16 units. */
    #astral = [];
    get text() {
        return this.#text;
    }
    /** Code points so far. */
    get points() {
        return this.#points;
    }
    append(delta) {
        this.#text += delta;
        for (const character of delta) {
            if (character.length === 2)
                this.#astral.push(this.#points);
            this.#points += 1;
        }
    }
    /** The UTF-16 index of a code point index. */
    utf16(point) {
        let low = 0;
        let high = this.#astral.length;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (this.#astral[middle] < point)
                low = middle + 1;
            else
                high = middle;
        }
        return point + low;
    }
}
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;
/** A lone surrogate is no character and cannot be sent; one U+FFFD stands for it. */
function wellFormed(text) {
    return text.replace(LONE_SURROGATE, "\ufffd");
}
function isHigh(unit) {
    return unit >= 0xd800 && unit <= 0xdbff;
}
