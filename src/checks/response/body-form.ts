import type { FilledBody } from "../../http/recorder/index.ts";

/** Ways to write and frame the same JSON document (RFC 8259, 2 and 7; RFC 9112, 7.1). */
export const BODY_FORMS = ["with-spaces", "escaped", "messages-first", "in-chunks"] as const;
export type BodyForm = (typeof BODY_FORMS)[number];

/** Pieces of a body that is sent in chunks. */
export const CHUNKS = 3;

export function writeBody(members: readonly (readonly [string, unknown])[], form: BodyForm | undefined): string {
  switch (form) {
    case "with-spaces":
      return `\r\n \t${JSON.stringify(Object.fromEntries(members), null, 2)}\n\n`;
    case "escaped":
      return escaped(JSON.stringify(Object.fromEntries(members)));
    case "messages-first":
      return JSON.stringify(Object.fromEntries(members.toSorted(([a], [b]) => rank(a) - rank(b))));
    default:
      return JSON.stringify(Object.fromEntries(members));
  }
}

/** Placeholder in a prompt for plain text whose length the request specifies. */
export const FILLER = "@filler@";

/** A body with plain text instead of the placeholder. */
export function fillBody(body: string, fillBytes: number): FilledBody {
  const at = body.indexOf(FILLER);
  return { before: body.slice(0, at), fillBytes, after: body.slice(at + FILLER.length) };
}

/** The longest member comes first, so that the others follow it. */
const rank = (name: string): number => (name === "messages" ? 0 : 1);

/** Escapes every non-ASCII character as its UTF-16 units. */
function escaped(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
