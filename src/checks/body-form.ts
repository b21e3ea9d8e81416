import type { FilledBody } from "../http-recorder/index.ts";

/** Ways to write and frame one and the same JSON document (RFC 8259, 2 and 7; RFC 9112, 7.1). */
export const BODY_FORMS = ["with-spaces", "escaped", "messages-first", "in-chunks"] as const;
export type BodyForm = (typeof BODY_FORMS)[number];

/** Pieces of a body that is sent in chunks. */
export const CHUNKS = 3;

/** Writes the members of a request's body. */
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

/** Stands in a prompt for plain text of a length that the request names. */
export const FILLER = "@filler@";

/** A body with plain text in place of the filler. */
export function fillBody(body: string, fillBytes: number): FilledBody {
  const at = body.indexOf(FILLER);
  return { before: body.slice(0, at), fillBytes, after: body.slice(at + FILLER.length) };
}

/** What is longest comes first, so that the rest stands behind it. */
const rank = (name: string): number => (name === "messages" ? 0 : 1);

/** Every character beyond ASCII as an escape of its UTF-16 units. */
function escaped(json: string): string {
  return json.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}
