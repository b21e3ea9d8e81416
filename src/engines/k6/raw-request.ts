/** One request as the scripts write it into the metadata of a metric sample, in milliseconds of their instance. */
export interface RawRequest {
  readonly scenario: string;
  readonly dialect: "chat" | "messages";
  readonly stream: boolean;
  readonly outcome: "admitted" | "denied" | "failed" | "invalid" | "unfinished";
  readonly what: string;
  readonly status: number;
  readonly index: number;
  readonly attempt: number;
  readonly key: number;
  /** Relative to the start of the instance's test. */
  readonly dueMs: number;
  readonly sentMs: number;
  /** Wall clock of the instance at the send, whole milliseconds, rounded down. */
  readonly wallMs: number;
  readonly connectMs: number;
  readonly firstByteMs: number;
  readonly totalMs: number;
  readonly retryAfter: string | undefined;
  readonly retryAfterWaitMs: number | undefined;
  /** `Date` of the response, Unix epoch milliseconds. */
  readonly dateMs: number | undefined;
  readonly tokens: number;
  readonly crossed: boolean;
}

const OUTCOMES: readonly string[] = ["admitted", "denied", "failed", "invalid", "unfinished"];
const FIELDS = 22;

/** @returns `undefined` if the text is not from our scripts. */
export function parseRequest(text: string): RawRequest | undefined {
  const parts = text.split("|");
  if (parts[0] !== "1" || parts.length !== FIELDS) return undefined;
  const word = (at: number) => decode(parts[at] as string);
  const number = (at: number) => Number(parts[at]);
  const [dialect, outcome] = [word(2), word(4)];
  if ((dialect !== "chat" && dialect !== "messages") || !OUTCOMES.includes(outcome)) return undefined;
  const numbers = [6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 19].map(number);
  if (!numbers.every(Number.isFinite)) return undefined;
  const date = Date.parse(word(18));
  return {
    scenario: word(1),
    dialect,
    stream: word(3) === "streaming",
    outcome: outcome as RawRequest["outcome"],
    what: word(5),
    status: number(6),
    index: number(7),
    attempt: number(8),
    key: number(9),
    dueMs: number(10),
    sentMs: number(11),
    wallMs: number(12),
    connectMs: number(13),
    firstByteMs: number(14),
    totalMs: number(15),
    retryAfter: word(16) === "" ? undefined : word(16),
    retryAfterWaitMs: word(17) === "" ? undefined : number(17),
    dateMs: Number.isNaN(date) ? undefined : date,
    tokens: number(19),
    crossed: word(20) === "crossed",
  };
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // A sample truncated inside a character: return the raw text, which shows what is left.
    return text;
  }
}
