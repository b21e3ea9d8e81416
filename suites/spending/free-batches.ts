import type { RequestSpec, Response, Session } from "../../src/checks/index.ts";
import type { Key } from "../../src/target/index.ts";
import { servable } from "../shared/cases/servable.ts";
import { LONG_TEXT } from "../shared/requests/texts.ts";
import { describeKind, isSpendingDenial, type Kind, kindsOf, type UsedUpState } from "./drive.ts";
import type { FreeBatch } from "./key-recording.ts";

/** Failing requests per batch, and their size: enough to use up a small limit if they were charged. */
const FAILURES = 48;
/** After this time the amount reserved for a failed request is certainly refunded, ms. */
const REFUND_MS = 3_000;
/** The failures that gateways charge for most often. */
const PROVIDER = "a failing provider";
/** Requests per minute of an account that has room for this many failures of each kind. */
const ROOM_RPM = 3_000;
/** A provider timeout longer than this is too slow to wait for that often, ms. */
const SHORT_TIMEOUT_MS = 4_000;

/** Requests that fail for different reasons; a failed request costs nothing. Ends with the first valid one that is denied. */
export async function freeBatches(t: Session, key: Key, state: UsedUpState, renewable: boolean): Promise<FreeBatch[]> {
  const large: RequestSpec = { key, prompt: LONG_TEXT, intent: "invalid", repeats: false };
  const kinds: { what: string; request: RequestSpec }[] = [
    { what: PROVIDER, request: { ...large, model: "upstreamError" } },
    { what: "an unknown model", request: { ...large, model: "unknown" } },
    {
      what: "a refused body",
      request: { ...large, fields: { messages: [{ role: "user", content: LONG_TEXT }, null] } },
    },
  ];
  if (await t.hasModel("upstreamTimeout")) {
    const request: RequestSpec = { ...large, model: "upstreamTimeout" };
    const first = await t.send(request);
    if (first.durationMs < SHORT_TIMEOUT_MS && first.status !== undefined)
      kinds.push({ what: "a provider that does not respond", request });
  }
  const hasRoom = (t.target.limits?.rpm ?? 0) >= ROOM_RPM;
  const plan: { what: string; request: RequestSpec; mix: readonly RequestSpec[] }[] = [];
  for (const { what, request } of kinds) {
    const mix = await servable(
      t,
      kindsOf(t).map((kind) => ({ ...request, ...kind })),
    );
    // If the account has room, each kind of traffic alone: a mix of which three quarters are free uses up little.
    if (!hasRoom || what !== PROVIDER) plan.push({ what, request, mix });
    else
      for (const one of mix) {
        const { endpoint, mode } = one as Kind;
        plan.push({ what: `${what} (${describeKind({ endpoint, mode })})`, request, mix: [one] });
      }
  }
  const batches: FreeBatch[] = [];
  let good = 1;
  const possible = plan.filter(({ mix }) => mix.length > 0);
  for (const [at, { what, request, mix }] of possible.entries()) {
    const failures = await Promise.all(
      Array.from({ length: FAILURES }, (_, index) => t.send({ ...request, ...mix[index % mix.length] })),
    );
    const after = renewable || at === possible.length - 1 ? await validAfter(t, key) : null;
    if (after !== null) good++;
    const denied = after !== null && isSpendingDenial(after);
    batches.push({ what, failures, after, control: denied && renewable ? await validOnly(t, state, good) : null });
    if (denied) break;
  }
  return batches;
}

/**
 * A valid request. If it is denied, it is sent once more: the amount reserved for the failures may be refunded a moment later.
 */
async function validAfter(t: Session, key: Key): Promise<Response> {
  const request: RequestSpec = { key, intent: "any" };
  const first = await t.send(request);
  if (!isSpendingDenial(first)) return first;
  await t.wait(REFUND_MS, "charges to be settled");
  return t.send(request);
}

/** The last of `count` valid requests on a fresh key. */
async function validOnly(t: Session, state: UsedUpState, count: number): Promise<Response | null> {
  const key = await t.fixtures.freshKey(`key.${state}`);
  if (key === undefined) return null;
  let response: Response | null = null;
  for (let sent = 0; sent < count; sent++) response = await t.send({ key, intent: "any" });
  return response;
}
