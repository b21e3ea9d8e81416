// Generated from src/dialects/reply-items.ts by `npm run generate`: change it there.
/** How a streamed body is cut into items as it arrives. Imports nothing, for the same reason as `reply-output.ts`. */

export interface EventText {
  /** Joined `data` lines; `undefined` when there are none. */
  readonly data: string | undefined;
  readonly name: string | undefined;
  /** A line of plain text, which no event stream has. */
  readonly stray: boolean;
}

/** Reads one event, without the blank line behind it. Unknown fields are passed over (WHATWG HTML, 9.2.6). */
export function readEvent(block: string): EventText {
  let data: string | undefined;
  let name: string | undefined;
  let stray = false;
  for (const line of block.split(/\r\n|\r|\n/)) {
    const colon = line.indexOf(":");
    const field = colon === -1 ? line : line.slice(0, colon);
    const value = colon === -1 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "data") data = data === undefined ? value : `${data}\n${value}`;
    else if (field === "event") name = value;
    else if (/\s/.test(field.trim()) || /^[<{[]/.test(field)) stray = true;
  }
  return { data, name, stray };
}

/** Longest JSON object that is kept until its end, characters. */
const MAX_ITEM = 4 * 1024 * 1024;
/** Characters that are kept of what stands outside of JSON objects. */
const MAX_OUTSIDE = 64;

/**
 * Cuts a body without event framing into its JSON objects, as it arrives: one per line, one after the other, or the members of one
 * array.
 */
export class JsonItems {
  #open = "";
  #depth = 0;
  #inString = false;
  #isEscaped = false;
  /** What stands outside of objects, as far as it is kept; separators and the brackets of an array do not count. */
  #outside = "";

  /** An object was too long to be kept. */
  isTooLong = false;

  feed(text: string, onItem: (item: string) => void): void {
    let from = 0;
    for (let at = 0; at < text.length; at++) {
      const char = text[at] as string;
      if (this.#depth === 0) {
        if (char === "{") {
          this.#depth = 1;
          from = at;
        } else if (!" \t\r\n,[]".includes(char) && this.#outside.length < MAX_OUTSIDE) this.#outside += char;
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
    if (this.#open.length > MAX_ITEM) {
      this.isTooLong = true;
      this.#open = "";
    }
  }

  /** The body has ended. Text that is no JSON is an error; a truncated object is not, because what it lacks shows by itself. */
  end(content: { ended: boolean; error: boolean }): void {
    if (this.#outside === "DONE") content.ended = true;
    else if (this.#outside !== "") content.error = true;
  }
}
