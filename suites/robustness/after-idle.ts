import { type Check, defineCheck, type Response, type Session } from "../../src/checks/index.ts";

/** After about this time gateways and providers begin to close idle connections to each other, ms. */
const IDLE_MS = 12_000;
/** One failure may be chance. */
const ROUNDS = 3;

const afterIdle = defineCheck({
  id: "robustness.after-idle",
  title: "The first request after an idle period is served",
  covers: ["STEADY-SERVICE"],
  explains:
    "Sends nothing for twelve seconds, then one request, and another right after it. If the first fails and the second is served, this is repeated twice: a failure each time shows that something behind the gateway does not survive idle periods, such as its upstream connections.",
  schedule: { order: "exclusive-last" },
  cost: { requests: 2, waitS: 13 },
  async run(t) {
    const pairs = [await afterSilence(t)];
    while (pairs.length < ROUNDS && pairs.every(isLost)) pairs.push(await afterSilence(t));
    return { pairs };
  },
  judge({ pairs }, verdict) {
    const [pair] = pairs;
    if (!pairs.some(({ next }) => next.admitted)) return verdict.inconclusive("valid requests are not served");
    verdict.should("STEADY-SERVICE", pairs.length === ROUNDS && pairs.every(isLost), false, {
      in: pair?.first,
      because: `the first request after twelve quiet seconds: ${pair?.first.summary}, the next: ${pair?.next.summary}`,
    });
  },
});

type Pair = { readonly first: Response; readonly next: Response };

async function afterSilence(t: Session): Promise<Pair> {
  await t.wait(IDLE_MS, "connections to become idle");
  const address = t.target.baseUrl;
  return { first: await t.send({ address }), next: await t.send({ address }) };
}

const isLost = ({ first, next }: Pair): boolean => !first.admitted && next.admitted;

export const AFTER_IDLE: readonly Check[] = [afterIdle];
