import type { Answer, Ask, Probe } from "../../src/conformance/index.ts";

/** Requests sent as fast as they are answered, until the first denial for the rate or a bound. */
export type Burst = {
  /** What was sent, in words. */
  readonly what: string;
  readonly answers: readonly Answer[];
  /** From the first sending to the last answer, seconds. */
  readonly seconds: number;
};

export function isRateDenial(answer: Answer): boolean {
  return answer.status === 429 && answer.reason !== "concurrency_limit_exceeded";
}

export function isSlotDenial(answer: Answer): boolean {
  return answer.status === 429 && answer.reason === "concurrency_limit_exceeded";
}

export interface BurstPlan {
  readonly what: string;
  /** Requests in turn; begun again when they are through. */
  readonly asks: readonly Ask[];
  /** Requests at most. */
  readonly most: number;
  /** Requests at once. */
  readonly parallel: number;
}

/** Sends until one request is denied for the rate; those already under way are waited for. */
export async function burst(t: Probe, { what, asks, most, parallel }: BurstPlan): Promise<Burst> {
  const answers: Answer[] = [];
  const startUs = t.nowUs();
  let sent = 0;
  let denied = false;
  const worker = async () => {
    while (!denied && sent < most) {
      const ask = asks[sent % asks.length] ?? {};
      sent++;
      const answer = await t.begin({ ...ask, intent: "either" }).done;
      answers.push(answer);
      if (isRateDenial(answer)) denied = true;
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
  return { what, answers, seconds: (t.nowUs() - startUs) / 1_000_000 };
}

export function admittedIn(answers: readonly Answer[]): number {
  return answers.filter(({ status = 0 }) => status >= 200 && status < 300).length;
}
