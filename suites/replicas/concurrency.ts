import {
  type Check,
  defineCheck,
  defineScenario,
  type LimitedAccount,
  limitedFor,
  type Response,
  type Session,
  scheduleOn,
} from "../../src/checks/index.ts";
import { atMost } from "../../src/judging/index.ts";
import { addressesOf } from "../../src/target/index.ts";
import { isConcurrencyDenial, isServed } from "../limits/denials.ts";
import { longStream } from "../limits/send.ts";
import { excessText } from "./excess.ts";

/** Requests at each other address while the limit is reached. */
const EXTRA = 2;
/** How long a request that has ended may still count at other addresses, ms. */
const RELEASED_MS = 5_000;
/** Between two waves, ms; and their maximum number. */
const POLL_INTERVAL_MS = 1_000;
const MAX_WAVES = 6;

type ConcurrencyRecording = {
  readonly limit: number;
  /** Streams at the first address, as many as the limit. */
  readonly held: readonly Response[];
  /** One more at the first address. */
  readonly own: Response | null;
  readonly otherAddresses: readonly { readonly address: string; readonly responses: readonly Response[] }[];
  /** After all of that had ended: as many at each other address, until all were admitted. */
  readonly released: readonly {
    readonly address: string;
    readonly afterMs: number;
    readonly responses: readonly Response[];
  }[];
};

interface ConcurrencyRun {
  readonly t: Session;
  readonly account: LimitedAccount;
  readonly addresses: readonly string[];
}

const limitOf = (target: Parameters<typeof limitedFor>[0]) => limitedFor(target, "concurrency")?.limits.inFlight ?? 0;

const concurrencyScenario = defineScenario<ConcurrencyRecording>({
  id: "replicas.concurrency",
  needs: ["addresses", "limited.concurrency", "model.stream"],
  reaches: "concurrency",
  schedule: (target) => scheduleOn(limitedFor(target, "concurrency")),
  cost: {
    requests: (target) => addressesOf(target).length * (limitOf(target) * MAX_WAVES + EXTRA) + 1,
    waitS: RELEASED_MS / 1_000,
  },
  run: (t) => send({ t, account: t.limited("concurrency"), addresses: addressesOf(t.target) }),
});

/** Streams up to the limit at one address, then requests at the others. */
async function send({ t, account: { key, limits }, addresses }: ConcurrencyRun): Promise<ConcurrencyRecording> {
  const [first = "", ...others] = addresses;
  const streams = Array.from({ length: limits.inFlight }, () => t.start({ ...longStream(key), address: first }));
  await Promise.all(streams.map(({ started }) => started));
  const plain = (address: string) => t.start({ key, address, intent: "any", freshConnection: true }).done;
  const own = await plain(first);
  const otherAddresses = [];
  for (const address of others)
    otherAddresses.push({ address, responses: await Promise.all(Array.from({ length: EXTRA }, () => plain(address))) });
  const held = await Promise.all(streams.map(({ done }) => done));
  const released = [];
  for (const address of others) {
    const startUs = t.nowUs();
    const elapsedMs = () => (t.nowUs() - startUs) / 1_000;
    let responses: Response[];
    for (;;) {
      responses = await Promise.all(
        Array.from({ length: limits.inFlight }, () => t.start({ ...longStream(key), address }).done),
      );
      if (!responses.some(isConcurrencyDenial) || elapsedMs() > RELEASED_MS) break;
      await t.wait(POLL_INTERVAL_MS);
    }
    released.push({ address, afterMs: Math.round(elapsedMs()), responses });
  }
  return { limit: limits.inFlight, held, own, otherAddresses, released };
}

const together = defineCheck({
  id: "replicas.concurrency",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "An account's concurrency limit applies across all addresses",
  covers: ["LIMIT-1", "LIMIT-CONC-2"],
  explains:
    "Fills the concurrency limit with streams at one address, confirms that one more is denied there, and sends requests at each other address. They must be denied too. If each replica counts separately, the limit is multiplied by the number of replicas.",
  judge({ held, own, otherAddresses, limit }, verdict) {
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted at one address");
    const firstEndUs = Math.min(...held.map(({ exchange }) => exchange.timeline.endUs));
    if (own !== null && !isConcurrencyDenial(own) && own.exchange.timeline.endUs >= firstEndUs)
      return verdict.inconclusive(
        "the streams ended before one more request at the same address got a response; set models.stream to a model with longer replies",
      );
    verdict.assume(own !== null && isConcurrencyDenial(own), "one more request was denied at the same address");
    for (const { address, responses } of otherAddresses) {
      const decided = responses.filter(({ exchange }) => exchange.timeline.endUs < firstEndUs);
      if (decided.length === 0) {
        verdict.markUndecided(
          "inconclusive",
          `the streams ended before a response arrived from ${address}; set models.stream to a model with longer replies`,
        );
        continue;
      }
      const served = decided.filter(isServed);
      if (served.length === 0 && !decided.some(isConcurrencyDenial)) {
        verdict.markUndecided(
          "inconclusive",
          `${address} neither served nor denied the requests: ${decided[0]?.summary}`,
        );
        continue;
      }
      verdict.must("LIMIT-1", served.length, atMost(0), {
        in: served[0] ?? decided[0],
        because: `served at ${address} while the limit was reached at another address: ${excessText({ admitted: served.length, room: 0, limit, unit: "requests in flight" })}, of ${decided.length} tried`,
      });
      verdict.must("LIMIT-CONC-2", limit + served.length, atMost(limit), { in: served[0] ?? decided[0] });
    }
  },
});

const releasedEverywhere = defineCheck({
  id: "replicas.release",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "A request that has ended stops counting at every address",
  covers: ["LIMIT-CONC-4"],
  explains:
    "After the streams at one address have ended, sends as many as the limit at each other address. All must be admitted within five seconds. A failure means that replicas do not learn of the end of each other's requests, so that an account loses capacity for good.",
  judge({ held, released }, verdict) {
    verdict.assume(held.length > 0 && held.every(isServed), "streams up to the concurrency limit were admitted");
    for (const { address, afterMs, responses } of released) {
      const denied = responses.filter(isConcurrencyDenial);
      const other = responses.find((response) => !isServed(response) && !isConcurrencyDenial(response));
      if (denied.length === 0 && other !== undefined) {
        verdict.markUndecided("inconclusive", `${address} neither served nor denied a request: ${other.summary}`);
        continue;
      }
      verdict.must("LIMIT-CONC-4", denied.length, 0, {
        in: denied[0] ?? responses[0],
        because: `denied at ${address}, ${afterMs} ms after everything had ended`,
      });
    }
  },
});

export const REPLICAS_CONCURRENCY: readonly Check[] = [together, releasedEverywhere];
