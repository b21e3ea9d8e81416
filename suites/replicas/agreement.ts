import { type Check, defineCheck, type Response, type Session } from "../../src/checks/index.ts";
import { median } from "../../src/core/index.ts";
import { listEntries } from "../../src/dialects/index.ts";
import { aReply, atMost, that } from "../../src/judging/index.ts";
import { addressesOf } from "../../src/target/index.ts";
import { isServed } from "../limits/denials.ts";
import { longStream } from "../limits/send.ts";

const modelsAgree = defineCheck({
  id: "replicas.models",
  title: "Every address lists the same models",
  covers: ["MODELS-4", "MODELS-6"],
  explains:
    "Requests the model list at every address. All lists should have the same ids: a client that takes an id from one list sends its next request to another replica. The order of the entries may differ.",
  needs: ["addresses"],
  cost: { requests: (target) => addressesOf(target).length },
  async run(t) {
    return {
      lists: await Promise.all(addressesOf(t.target).map((address) => t.send({ endpoint: "models", address }))),
    };
  },
  judge({ lists }, verdict) {
    for (const list of lists) verdict.requireControl(list, "the model list of every address");
    const ids = lists.map(idsOf);
    const all = new Set(ids.flatMap((own) => [...own]));
    verdict.assume(all.size > 0, "at least one list contains a model");
    for (const [index, list] of lists.entries()) {
      const missing = [...all].filter((id) => ids[index]?.has(id) !== true).sort();
      verdict.should(
        "MODELS-4",
        missing.slice(0, 5).join(", "),
        that("every model that another address lists", (names) => names === ""),
        {
          in: list,
          at: "/data",
          because: `missing from the model list of ${new URL(list.exchange.request.url).host}`,
        },
      );
    }
    verdict.observe("MODELS-6", `${all.size} models at ${lists.length} addresses`);
  },
});

function idsOf(list: Response): ReadonlySet<string> {
  const ids = listEntries(list.json).map((entry) => (entry as { id?: unknown } | null)?.id);
  return new Set(ids.filter((id) => typeof id === "string"));
}

/** Requests at the other address before, and while one is busy. */
const SERIES = 6;
/** Streams that keep an address busy. */
const BUSY = 3;
/** Allowance beyond three times the usual duration, ms: longer than a stall of a shared machine. */
const SLACK_MS = 400;

/** What one address did while another one was busy. */
type IsolationMeasurement = {
  readonly address: string;
  readonly before: readonly Response[];
  readonly meanwhile: readonly Response[];
  /** The streams at the busy address. */
  readonly busy: readonly Response[];
};

async function measureWhileBusy(t: Session, busyAt: string, address: string): Promise<IsolationMeasurement> {
  const series = async () => {
    const responses: Response[] = [];
    for (let count = 0; count < SERIES; count++) responses.push(await t.start({ address, intent: "any" }).done);
    return responses;
  };
  const before = await series();
  const key = t.target.keys.valid;
  const streams = Array.from({ length: BUSY }, () => t.start({ ...longStream(key), address: busyAt }));
  // Clients that leave in the middle, and bodies that cannot be read.
  const left = t.start({ ...longStream(key), address: busyAt });
  await Promise.all([...streams, left].map(({ started }) => started));
  left.abort();
  await t.start({ address: busyAt, rawBody: "{", intent: "invalid" }).done;
  const meanwhile = await series();
  const busy = await Promise.all(streams.map(({ done }) => done));
  await left.done;
  return { address, before, meanwhile, busy };
}

const isolation = defineCheck({
  id: "replicas.isolation",
  basis: "timing",
  title: "A busy replica does not affect the others",
  covers: ["REPLICA-ISOLATION"],
  explains:
    "Measures requests at one address, then keeps another address busy with long streams, a client that disconnects and a malformed request, and measures again. All requests should be served, and not take much longer than before. A warning means that replicas wait for each other.",
  needs: ["addresses", "model.stream"],
  schedule: { order: "exclusive" },
  cost: { requests: (target) => addressesOf(target).length * (2 * SERIES + BUSY + 2) },
  async run(t) {
    const addresses = addressesOf(t.target);
    const seen: IsolationMeasurement[] = [];
    for (const [index, address] of addresses.entries())
      seen.push(await measureWhileBusy(t, addresses[(index + 1) % addresses.length] ?? address, address));
    return { seen };
  },
  judge({ seen }, verdict) {
    for (const { address, before, meanwhile, busy } of seen) {
      for (const response of before) verdict.requireControl(response, `a request at ${address} before`);
      const endUs = Math.min(...busy.map(({ exchange }) => exchange.timeline.endUs));
      const during = meanwhile.filter(({ exchange }) => exchange.timeline.dueUs < endUs);
      verdict.assume(busy.every(isServed) && during.length > 0, "the other address was busy during the measurement");
      for (const response of during)
        verdict.should("REPLICA-ISOLATION", isServed(response), aReply, {
          in: response,
          because: `at ${address} while another address was busy`,
        });
      const usualMs = median(before.map(({ durationMs }) => durationMs));
      const durationMs = Math.round(median(during.map((response) => response.durationMs)));
      verdict.should("REPLICA-ISOLATION", durationMs, atMost(Math.round(usualMs * 3 + SLACK_MS)), {
        in: during[0],
        because: `median duration at ${address} while another address was busy, ms; before ${usualMs.toFixed(0)}`,
      });
    }
  },
});

export const REPLICAS_AGREEMENT: readonly Check[] = [modelsAgree, isolation];
