import {
  type Check,
  defineCheck,
  type MaskedUpstreamRequest,
  type RequestSpec,
  type Session,
  type UpstreamTraffic,
} from "../../src/checks/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { atMost, isTrue } from "../../src/judging/index.ts";
import { assumeReachedProviders, NOTHING_RECEIVED, type ProviderScript, sendPlain } from "./marked.ts";

/** The time a gateway may take to notice that its caller has disconnected, ms. */
const NOTICE_MS = 1_000;
/** How long the provider is observed after that, ms: retries follow after a pause. */
const WATCHED_MS = 6_000;
const LATER_MS = 1_500;
/** How long a request may take to reach a provider, ms. */
const ARRIVES_MS = 5_000;
/** Time into the phase, ms. */
const INTO_MS = 250;

interface Phase extends Pick<RequestSpec, "mode"> {
  /** @param slower factor by which the provider takes longer. */
  readonly script: (slower: number) => ProviderScript;
  /** Whether the caller has received part of the reply when it disconnects. */
  readonly hasBegun?: true;
}

const LONG_MS = 12_000;

/** How much slower a provider is in the second and third attempt. */
const SLOWER = [2, 4] as const;

const PHASES: Readonly<Record<string, Phase>> = {
  waiting: { mode: "non-streaming", script: () => ({ "*": { latencyMs: LONG_MS } }) },
  "before-first-token": { mode: "streaming", script: () => ({ "*": { firstTokenMs: LONG_MS } }) },
  "mid-stream": { mode: "streaming", script: () => ({ "*": { gapMs: 150, pieces: 80 } }), hasBegun: true },
  "provider-fails": {
    mode: "non-streaming",
    script: (slower) => ({ "*": { latencyMs: 1_800 * slower, error: { status: 503 } } }),
  },
};

const cancelled = defineCheck({
  id: "upstream.cancelled",
  title: "A request whose caller disconnected is cancelled at the provider",
  covers: ["UPSTREAM-CANCEL", "UPSTREAM-AFTER-LEFT"],
  explains:
    "The caller disconnects before the provider responds, before the first token, mid-stream, and just before the provider fails. The gateway has one second to cancel the provider's request: anything generated later is paid for, and nobody reads it. No provider may get a request after that. A late cancellation is tested once more.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: Object.keys(PHASES) },
  cost: { requests: 5, waitS: 4 },
  basis: "timing",
  async run(t) {
    const phase = PHASES[t.case] as Phase;
    const plain = await sendPlain(t, phase.mode);
    if (!plain.response.admitted) return { plain, before: NOTHING_RECEIVED, leftAtMs: 0, after: NOTHING_RECEIVED };
    let left = await leave(t, phase, 1);
    // The provider finished before the gateway's second was over: this process was late. A slower provider leaves more time.
    for (const slower of SLOWER) if (endedEarly(left)) left = await leave(t, phase, slower);
    // A single delay may be caused by a busy machine; a gateway that is too slow is too slow again.
    return { plain, ...(isLate(left) ? await leave(t, phase, 1) : left) };
  },
  judge({ plain, before, leftAtMs, after }, verdict, axes) {
    assumeReachedProviders(verdict, plain);
    const running = before.requests.filter(({ end }) => end === undefined).map(({ id }) => id);
    if (running.length === 0)
      verdict.inconclusive(
        before.requests.length === 0
          ? "the request reached no provider"
          : "the request had ended before the caller disconnected",
      );
    for (const request of after.requests.filter(({ id }) => running.includes(id))) {
      const fate = fateOf(request, leftAtMs);
      if (fate === undefined)
        return verdict.inconclusive(
          "the provider's response ended within the second that the gateway has to cancel it",
        );
      verdict.should(
        "UPSTREAM-CANCEL",
        fate.isInTime,
        isTrue("the provider's request to end within a second", fate.what),
        {
          because: `after the caller disconnected (${axes.case})`,
        },
      );
    }
    const later = after.requests.filter(({ receivedMs }) => receivedMs > leftAtMs + NOTICE_MS);
    verdict.should("UPSTREAM-AFTER-LEFT", later.length, atMost(0), {
      because: "requests to providers more than a second after the caller disconnected",
    });
  },
});

type Left = { readonly before: UpstreamTraffic; readonly leftAtMs: number; readonly after: UpstreamTraffic };

/** Sends a request, and disconnects in a phase of it. */
async function leave(t: Session, phase: Phase, slower: number): Promise<Left> {
  const marker = t.upstream.marker();
  await t.upstream.setResponses(marker, phase.script(slower));
  const request: RequestSpec = { mode: phase.mode ?? "non-streaming", intent: "invalid", freshConnection: true };
  const held = t.start(t.upstream.marked(marker, t.dialect, request));
  await t.upstream.until(marker, (seen) => seen.length > 0, ARRIVES_MS);
  if (phase.hasBegun) await held.started;
  await t.wait(INTO_MS);
  const before = await t.upstream.requests(marker);
  held.abort();
  await held.done;
  // Read after the caller has disconnected: however late this process was, the gateway has a whole second.
  const { nowMs: leftAtMs } = await t.upstream.requests(marker);
  await t.upstream.until(marker, (seen) => seen.every(({ end }) => end !== undefined), WATCHED_MS);
  await t.wait(LATER_MS, "attempts after the caller left");
  return { before, leftAtMs, after: await t.upstream.requests(marker) };
}

/** Whether the provider had responded before the caller disconnected, or within the gateway's second after that. */
function endedEarly({ before, leftAtMs, after }: Left): boolean {
  const running = before.requests.filter(({ end }) => end === undefined).map(({ id }) => id);
  if (running.length === 0) return before.requests.length > 0;
  return after.requests.some((request) => running.includes(request.id) && fateOf(request, leftAtMs) === undefined);
}

/** Whether the provider's request was aborted, but not within the second. */
function isLate({ leftAtMs, after }: Left): boolean {
  return after.requests.some(({ end, endMs = 0 }) => end === "gateway-left" && endMs - leftAtMs > NOTICE_MS);
}

/** How the request ended at the provider; `undefined`: it was over before the gateway had to abort it. */
function fateOf({ end, endMs = 0 }: MaskedUpstreamRequest, leftAtMs: number) {
  const afterMs = Math.max(0, Math.round(endMs - leftAtMs));
  if (end !== undefined && end !== "gateway-left" && afterMs <= NOTICE_MS) return undefined;
  if (end === undefined) return { isInTime: false, what: `no end within ${WATCHED_MS / 1_000} s` };
  const isInTime = end === "gateway-left" && afterMs <= NOTICE_MS;
  return { isInTime, what: `${end === "gateway-left" ? "an end" : "completion"} after ${afterMs} ms` };
}

export const CANCEL: readonly Check[] = [cancelled];
