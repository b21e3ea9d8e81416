/** Splits a streamed body into items as it arrives. Imports nothing, for the same reason as `reply-output.ts`. */

export interface EventText {
  /** Joined `data` lines; `undefined` when there are none. */
  readonly data: string | undefined;
  readonly name: string | undefined;
  /** It has a line of plain text, which is not valid in an event stream. */
  readonly stray: boolean;
}

/** Parses one event, without the blank line after it. Unknown fields are ignored (WHATWG HTML, 9.2.6). */
export function readEvent(block: string): EventText {
  let data: string | undefined;
  let name: string | undefined;
  let stray = false;
  // Most events are a single line, and splitting costs more than reading it.
  for (const line of /[\r\n]/.test(block) ? block.split(/\r\n|\r|\n/) : [block]) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (field === "event") name = value;
    else if (/\s/.test(field.trim()) || /^[<{[]/.test(field)) stray = true;
  }
  return { data, name, stray };
}

/**
 * The events of a whole stream, each without the blank line after it. CR followed by LF is one end of a line, so a single CRLF is
 * no blank line. One at a time: a body may have a million.
 */
export function* eventsIn(text: string): Generator<{ readonly block: string; readonly isLast: boolean }> {
  const blank = /(?:\r\n|\n|\r(?!\n)){2}/g;
  let from = 0;
  for (let end = blank.exec(text); end !== null; end = blank.exec(text)) {
    yield { block: text.slice(from, end.index), isLast: false };
    from = blank.lastIndex;
  }
  yield { block: text.slice(from), isLast: true };
}

/** Longest JSON object that is buffered, characters. */
const MAX_ITEM_CHARS = 4 * 1024 * 1024;
/** How much text outside of JSON objects is kept, characters. */
const MAX_OUTSIDE_CHARS = 64;

/**
 * Splits a body without event framing into its JSON objects as it arrives: one per line, concatenated, or the elements of an
 * array.
 */
export class JsonItems {
  #open = "";
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** Text outside of objects, up to `MAX_OUTSIDE_CHARS`, without separators and the brackets of an array. */
  #outside = "";

  /** An object was too long to be buffered. */
  isTooLong = false;

  feed(text: string, onItem: (item: string) => void): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text[at] as string;
      if (this.#depth === 0) {
        if (char === "{") {
          this.#depth = 1;
          from = at;
        } else if (!" \t\r\n,[]".includes(char) && this.#outside.length < MAX_OUTSIDE_CHARS) this.#outside += char;
      } else if (this.#inString) {
        if (this.#isEscaped) this.#isEscaped = false;
        else if (char === "\\") this.#isEscaped = true;
        else if (char === '"') this.#inString = false;
      } else if (char === '"') this.#inString = true;
      else if (char === "{") this.#depth++;
      else if (char === "}" && --this.#depth === 0) {
        onItem(this.#open + text.slice(from, at + 1));
        this.#open = "";
      }
    }
    if (this.#depth > 0 && !this.isTooLong) this.#open += text.slice(from);
    if (this.#open.length > MAX_ITEM_CHARS) {
      this.isTooLong = true;
      this.#open = "";
    }
  }

  /** Ends the body. Text that is not JSON is an error. A truncated object is not, because the missing end is a defect anyway. */
  end(content: { ended: boolean; error: boolean }): void {
    if (this.#outside === "DONE") content.ended = true;
    else if (this.#outside !== "") content.error = true;
  }
}
