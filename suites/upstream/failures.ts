import { type Check, defineCheck, type Response, type Session } from "../../src/checks/index.ts";
import { formatCount, member } from "../../src/core/index.ts";
import { DIALECTS, MODES } from "../../src/dialects/index.ts";
import { aReply, atMost, isTrue, serverError, success, that } from "../../src/judging/index.ts";
import { DENIALS } from "../../src/requirements/index.ts";
import {
  assumeReachedProviders,
  type MarkedExchange,
  PAUSE_MS,
  type ProviderScript,
  sendMarked,
  sendPlainNow,
} from "./marked.ts";

type Failure = Extract<ProviderScript[string], { readonly error?: unknown }>;

/** What a provider does instead of replying. */
const FAILURES: Readonly<Record<string, Failure>> = {
  "500": { error: { status: 500 } },
  "503": { error: { status: 503 } },
  "529": { error: { status: 529 } },
  "429": { error: { status: 429, retryAfter: 1 } },
  "401": { error: { status: 401, message: "Incorrect API key provided: {credential}." } },
  "402": { error: { status: 402, type: "insufficient_quota", message: "You exceeded your current quota." } },
  reset: { break: { how: "reset", at: "before-head" } },
  "cut-head": { break: { how: "close", at: "inside-head" } },
};

/** More attempts are not few, and more than a minute is not soon. */
const MAX_ATTEMPTS = 10;
const MAX_MS = 60_000;

const NAMED: readonly string[] = DENIALS.map(({ reason }) => reason);
const notACallersReason = that("no reason that blames the caller", (value) => !NAMED.includes(String(value)));

const failure = defineCheck({
  id: "upstream.failure",
  title: "A failing provider results in a 5xx, after few attempts",
  covers: ["ERR-5XX-1", "UPSTREAM-ATTEMPTS", "UPSTREAM-RETRY-BOUNDED", "UPSTREAM-OWN-KEY"],
  explains:
    "All providers fail in the same way: with 500, 503, 529, 429, 401 with the operator's key in the message, 402, a reset, or a truncated response head. The caller could not be served, so it must get a 5xx: the provider's 429, 401 and 402 concern the operator's account, not the caller's. The gateway may make no more attempts than the target file says (upstream.attempts; default ten), within a minute, and must not reveal the operator's key.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, mode: MODES, case: Object.keys(FAILURES) },
  schedule: { order: "exclusive", failsUpstream: true },
  cost: { requests: 10 },
  async run(t) {
    await t.scenarios.once("upstream.all-credentials", () => learnCredentials(t));
    const plain = await sendPlainNow(t);
    const bounds = { deadlineMs: MAX_MS + 5_000, idleMs: MAX_MS + 5_000 };
    const request = { mode: t.mode, intent: "denied", repeats: false, bounds } as const;
    const send = () => sendMarked(t, request, { "*": FAILURES[t.case] as Failure });
    const first = await send();
    // If the gateway is pausing its providers at this moment, try again when it serves.
    const reachedNoProvider = plain.response.admitted && first.upstream.requests.length === 0;
    const failed = reachedNoProvider && (await sendPlainNow(t)).response.admitted ? await send() : first;
    return { plain, failed, declared: t.target.upstream?.attempts ?? null };
  },
  judge({ plain, failed, declared }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response, upstream } = failed;
    const received = upstream.requests.length;
    const seen = { in: response, because: `after ${formatCount(received, "request")} to providers` };
    if (received === 0) verdict.inconclusive(`the request reached no provider: ${response.summary}`);
    verdict.must("ERR-5XX-1", response.status, serverError, { ...seen, at: "status" });
    verdict.must("ERR-5XX-1", response.reason, notACallersReason, { ...seen, at: "reason" });
    const leaked = response.exchange.redactions.some(
      ({ secret, place }) => secret === "upstream" && place !== "request",
    );
    verdict.must("UPSTREAM-OWN-KEY", leaked, false, { in: response, because: "the operator's key is in the response" });
    verdict.should("UPSTREAM-RETRY-BOUNDED", received, atMost(MAX_ATTEMPTS), {
      ...seen,
      because: "requests to providers",
    });
    verdict.should("UPSTREAM-RETRY-BOUNDED", Math.round(response.durationMs), atMost(MAX_MS), {
      ...seen,
      because: "ms until the response ended",
    });
    if (declared === null)
      verdict.note("UPSTREAM-ATTEMPTS", `${formatCount(received, "request")} to providers`, { in: response });
    else verdict.must("UPSTREAM-ATTEMPTS", received, atMost(declared), { ...seen, because: "requests to providers" });
  },
});

/** A failure that contains no key makes the gateway show its keys to every provider that it contacts. */
async function learnCredentials(t: Session): Promise<null> {
  // Sends a request that is served first: a failure may show the provider's key, and only a known key is redacted.
  await sendPlainNow(t, "non-streaming");
  const { marker } = await sendMarked(t, { mode: "non-streaming", intent: "denied", repeats: false }, ALL_FAIL);
  await t.upstream.credentials(marker);
  return null;
}

const ALL_FAIL: ProviderScript = { "*": { error: { status: 500 } } };

/** Ways to interrupt a reply. */
const BREAKS = { reset: "reset", close: "close" } as const;

const brokenReply = defineCheck({
  id: "upstream.broken-reply",
  title: "A truncated provider reply is not requested again, and is not a success",
  covers: ["ERR-5XX-1", "UPSTREAM-BLIND-RETRY"],
  explains:
    "The provider sends half of a non-streaming reply, then its connection is reset or closed. The caller must get a 5xx. The provider has done the work: a gateway that retries pays twice, which RFC 9110 advises against for requests that are not idempotent.",
  needs: ["upstream"],
  across: { dialect: DIALECTS, case: Object.keys(BREAKS) },
  schedule: { order: "exclusive", failsUpstream: true },
  cost: { requests: 2 },
  async run(t) {
    const plain = await sendPlainNow(t);
    const how = BREAKS[t.case as keyof typeof BREAKS];
    const broken = await sendMarked(t, { intent: "denied", repeats: false }, { "*": { break: { how, at: 1 } } });
    return { plain, broken };
  },
  judge({ plain, broken }, verdict) {
    assumeReachedProviders(verdict, plain);
    const { response, upstream } = broken;
    const received = upstream.requests.length;
    if (received === 0) verdict.inconclusive(`the request reached no provider: ${response.summary}`);
    const seen = { in: response, because: `after ${formatCount(received, "request")} to providers` };
    verdict.must("ERR-5XX-1", !response.admitted, isTrue("a failure, not a reply"), seen);
    if (response.complete) verdict.must("ERR-5XX-1", response.status, serverError, { ...seen, at: "status" });
    verdict.should("UPSTREAM-BLIND-RETRY", received, 1, { ...seen, because: "requests to providers" });
  },
});

/** How the first provider fails if the next one should serve. */
const FAILS_OVER = ["503", "429", "reset"] as const;
/** Maximum number of requests until one reaches the failing provider: a gateway may distribute them. */
const MAX_TRIED = 12;

const failover = defineCheck({
  id: "upstream.failover",
  title: "If one provider fails, the next one serves",
  covers: ["UPSTREAM-FAILOVER", "UPSTREAM-SAME-MODEL"],
  explains:
    "The first provider of `upstream.failover` responds with 503 or 429, or resets the connection; the others serve. The request must be served, at the second attempt at the latest, and the reply must name the same model as one that the first provider served.",
  needs: ["upstream", "upstream.failover"],
  across: { dialect: DIALECTS, mode: MODES, case: FAILS_OVER },
  schedule: { order: "exclusive", failsUpstream: true },
  cost: { requests: 3 },
  async run(t) {
    const plain = await sendPlainNow(t);
    const [first = ""] = t.target.upstream?.failover ?? [];
    const tried: MarkedExchange[] = [];
    let failed = 0;
    for (let index = 0; index < MAX_TRIED; index++) {
      const request = { mode: t.mode, repeats: false, intent: "invalid" } as const;
      const passed = await sendMarked(t, request, { [first]: FAILURES[t.case] as Failure });
      tried.push(passed);
      if (!hasReached(passed, first)) continue;
      if (passed.response.admitted || ++failed > 1) break;
      // The next provider may still be paused because of an earlier failure.
      await t.wait(PAUSE_MS, "a provider to be used again");
    }
    return { plain, first, tried };
  },
  judge({ plain, first, tried }, verdict) {
    assumeReachedProviders(verdict, plain);
    const shown = tried.findLast((passed) => hasReached(passed, first));
    if (shown === undefined) return verdict.inconclusive(`no request reached the provider ${first}`);
    const { response, upstream } = shown;
    const way = upstream.requests.map(({ provider, status }) => `${provider} ${status ?? "reset"}`).join(", ");
    const seen = { in: response, because: `providers: ${way}` };
    if (!verdict.must("UPSTREAM-FAILOVER", response.status, success, { ...seen, at: "status" })) return;
    verdict.must("UPSTREAM-FAILOVER", response.admitted, aReply, seen);
    verdict.should("UPSTREAM-SAME-MODEL", modelIn(response), modelIn(plain.response), { ...seen, at: "/model" });
  },
});

const hasReached = ({ upstream }: MarkedExchange, name: string): boolean =>
  upstream.requests.some(({ provider }) => provider === name);

/** The model that a reply names. */
function modelIn({ streamed, stream, json }: Response): unknown {
  const named = (value: unknown) => member(value, "model") ?? member(member(value, "message"), "model");
  return streamed ? stream.events.map((event) => named(event.json)).find((model) => model !== undefined) : named(json);
}

export const FAILURES_OF_PROVIDERS: readonly Check[] = [failure, brokenReply, failover];
