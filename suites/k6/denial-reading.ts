// Generated from src/dialects/denial-reading.ts by `npm run generate`: change it there.
/**
 * Determines which denial a response is. Like `reply-defect.ts`, this file imports nothing from the project, because the k6
 * scripts use a generated copy, so that every engine reads denials in the same way.
 */

/** What the body of a denial contains: a text, or a regular expression that matches one of its texts. */
export type DenialMessage = string | { readonly pattern: string };

/** How a gateway expresses one denial. */
export interface DenialWords<Reason extends string = string> {
  /** The specification's reason. */
  readonly reason: Reason;
  readonly status: number;
  /** The gateway's reason codes for it. Dialects may differ in them. Absent: its messages identify it, whatever the code. */
  readonly words?: readonly string[] | undefined;
  /** One of these is in the body, if the codes do not distinguish the denial from others, or if there are none. */
  readonly messages?: readonly DenialMessage[] | undefined;
}

/** A denial as received. */
export interface ArrivedDenial {
  readonly status: number | undefined;
  /** The gateway's reason code, if it names one. */
  readonly code: string | undefined;
  readonly body: () => string;
}

/** The first entry that a denial matches. */
export function findDenial<Words extends DenialWords>(
  all: readonly Words[],
  { status, code, body }: ArrivedDenial,
): Words | undefined {
  return all.find(
    (one) =>
      one.status === status &&
      (one.words === undefined || (code !== undefined && one.words.includes(code))) &&
      (one.messages === undefined || hasMessage(body(), one.messages)),
  );
}

/** Limits of the text that is searched. A gateway may send megabytes, and regular expressions are slow on long texts. */
const MAX_BODY_CHARACTERS = 65_536;
const MAX_TEXT_CHARACTERS = 1_000;
const MAX_TEXTS = 200;
const MAX_DEPTH = 8;

function hasMessage(body: string, messages: readonly DenialMessage[]): boolean {
  const texts = textsOf(body);
  return messages.some((message) => {
    if (typeof message === "string") return texts.some((text) => text.includes(message));
    const pattern = new RegExp(message.pattern);
    return texts.some((text) => pattern.test(text.slice(0, MAX_TEXT_CHARACTERS)));
  });
}

/** A body, and the strings inside it: JSON escapes some of their characters. */
export function textsOf(body: string): string[] {
  const short = body.slice(0, MAX_BODY_CHARACTERS);
  const texts = [short.trim()];
  const collect = (value: unknown, depth: number): void => {
    if (texts.length >= MAX_TEXTS || depth > MAX_DEPTH) return;
    if (typeof value === "string") texts.push(value);
    else if (typeof value === "object" && value !== null)
      for (const inner of Object.values(value)) collect(inner, depth + 1);
  };
  try {
    collect(JSON.parse(short), 0);
  } catch {
    // Not JSON: the body itself is the text.
  }
  return texts;
}
