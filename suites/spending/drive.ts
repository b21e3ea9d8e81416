import type { Answer, Ask, Probe } from "../../src/conformance/index.ts";
import type { Key } from "../../src/target/index.ts";
import { LONG_TEXT } from "../shared/texts.ts";

/** One kind of paid traffic. */
export type Kind = { readonly endpoint: "chat" | "messages"; readonly mode: "whole" | "stream" };

export const KINDS: readonly Kind[] = [
  { endpoint: "chat", mode: "whole" },
  { endpoint: "chat", mode: "stream" },
  { endpoint: "messages", mode: "whole" },
  { endpoint: "messages", mode: "stream" },
];

/** A key that was used with one kind of traffic until it was denied, or until it should have been. */
export type Drive = {
  readonly kind: Kind;
  /** Requests that were served before the first denial. */
  readonly served: number;
  readonly first: Answer | null;
  readonly denial: Answer | null;
  /** From the last served request to the denial, or to giving up, seconds. */
  readonly waitedS: number;
};

/** Small requests first, so that the overshoot is small; large ones when the limit turns out not to be. */
const SMALL = 60;
const LARGE = 40;
/** How long a daily cap's tally may lag, and a little more. */
const LAG_S = 75;
const POLL_MS = 3_000;

/**
 * Uses a key up with one kind of traffic.
 *
 * @param lag whether the tally may lag by a minute (daily caps) or not (lifetime budgets).
 */
export async function drive(t: Probe, key: Key, kind: Kind, lag: boolean): Promise<Drive> {
  const served: Answer[] = [];
  const small: Ask = { key, ...kind, intent: "either" };
  const large: Ask = { ...small, prompt: LONG_TEXT, ...(kind.endpoint === "messages" ? { maxTokens: 2_000 } : {}) };
  for (let sent = 0; sent < SMALL + LARGE; sent++) {
    const answer = await t.ask(sent < SMALL ? small : large);
    if (isSpendingDenial(answer))
      return { kind, served: served.length, first: served[0] ?? null, denial: answer, waitedS: 0 };
    if (answer.admitted) served.push(answer);
    else if (sent > 5 && served.length === 0) break;
  }
  const startUs = t.nowUs();
  const waitedS = () => (t.nowUs() - startUs) / 1_000_000;
  let denial: Answer | null = null;
  while (served.length > 0 && waitedS() < (lag ? LAG_S : 10)) {
    await t.wait(POLL_MS);
    const answer = await t.ask(small);
    if (!isSpendingDenial(answer)) continue;
    denial = answer;
    break;
  }
  return { kind, served: served.length, first: served[0] ?? null, denial, waitedS: waitedS() };
}

/** Any refusal that a used-up key may meet, rightly named or not: the rows are judged, not assumed. */
export function isSpendingDenial(answer: Answer): boolean {
  const { status = 0, reason } = answer;
  if (status === 429) return reason !== "rate_limit_exceeded" && reason !== "concurrency_limit_exceeded";
  return status === 402 || (status >= 400 && status < 500);
}

export function describeKind({ endpoint, mode }: Kind): string {
  return `${endpoint}, ${mode === "whole" ? "whole" : "streamed"}`;
}
