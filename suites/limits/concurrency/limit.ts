import { type Check, defineCheck, type Response } from "../../../src/checks/index.ts";
import { median } from "../../../src/core/index.ts";
import { DIALECTS } from "../../../src/dialects/index.ts";
import { atLeast, atMost, that } from "../../../src/judging/index.ts";
import { denialRequirements, judgeDenial } from "../../shared/judge/judge-denial.ts";
import { admittedIn, isConcurrencyDenial, isServed, limitDenials, strayFailures, withoutStrays } from "../denials.ts";
import { mostInFlight, queuedAtLimit, servedAtLimit, wasAtLimit } from "./in-flight.ts";
import { concurrencyScenario } from "./scenario.ts";
import { nonStreaming, silentStreams } from "./slow-replies.ts";

const enforced = defineCheck({
  id: "limits.concurrency-enforced",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "More requests in flight than the limit are denied",
  covers: ["LIMIT-CONC-1", "ERR-429-CONC", "LIMIT-2"],
  explains:
    "Sends several times the limit of long streams at the same time. At least one must be rejected: a gateway that silently queues or serves the rest does not enforce the limit. How it is rejected is a separate requirement: 429 concurrency_limit_exceeded.",
  judge({ burst, limits, unnamed, expected }, verdict) {
    const refused = withoutStrays(burst).filter(
      (response) => limitDenials(unnamed).isConcurrency(response) || isTurnedAway(response),
    );
    const because = `sent ${burst.length} concurrent requests with a limit of ${limits.inFlight}: ${outcomesOf(burst)}`;
    const seen = { in: refused[0] ?? burst.at(-1), because };
    verdict.must("LIMIT-CONC-1", refused.length, atLeast(1), seen);
    verdict.must("LIMIT-2", refused.length, atLeast(1), seen);
    const [first] = refused;
    if (first === undefined) return;
    const isNamed = (response: Response) => response.status === expected.status && response.reason === expected.readAs;
    const other = refused.find((response) => !isNamed(response));
    const named = that(`${expected.status} ${expected.readAs}`, () => other === undefined);
    verdict.must("ERR-429-CONC", (other ?? first).summary, named, { in: other ?? first, because });
  },
});

/** Refused with an error that is not about the content of the request, but about the gateway or its current state. */
function isTurnedAway({ status = 0 }: Response): boolean {
  return status === 503;
}

/** How many were admitted and what happened to the others, as text. */
function outcomesOf(responses: readonly Response[]): string {
  const counts = new Map<string, number>();
  for (const response of responses) {
    const { status, reason } = response;
    const named = status !== undefined && status >= 400 && reason === undefined ? " without a reason code" : "";
    const what = isServed(response) ? "admitted" : `got ${response.summary}${named}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

const exact = defineCheck({
  id: "limits.concurrency-exact",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Exactly as many simultaneous requests as the limit are admitted",
  covers: ["LIMIT-CONC-2", "LIMIT-2"],
  explains:
    "Sends a burst far over the limit, each request on its own connection. Exactly the limit must be served, and never more may be in flight at one moment. Fewer means an off-by-one error or requests that still count after they ended; more means a counter per connection, worker or dialect, or a race between checking and counting.",
  judge({ burst, limits, unnamed }, verdict) {
    const denied = burst.find(limitDenials(unnamed).isConcurrency);
    if (denied === undefined) return verdict.inconclusive("nothing was denied; see limits.concurrency-enforced");
    const served = admittedIn(burst);
    const running = mostInFlight(burst);
    const why = `${burst.length} concurrent requests with a limit of ${limits.inFlight}`;
    verdict.must("LIMIT-CONC-2", served, atLeast(limits.inFlight - strayFailures(burst).length), {
      in: denied,
      because: `served of ${why}`,
    });
    verdict.must("LIMIT-CONC-2", running, atMost(limits.inFlight), {
      in: burst.findLast(isServed),
      because: `in flight at one moment of ${why}`,
    });
    verdict.must("LIMIT-2", running, atMost(limits.inFlight), { because: why });
  },
});

const heldToTheEnd = defineCheck({
  id: "limits.concurrency-held",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "A stream counts as in flight until it ends, and no longer",
  covers: ["LIMIT-CONC-3", "LIMIT-CONC-1"],
  explains:
    "Streams fill the concurrency limit. Another request is sent immediately, after many denials, and shortly before the streams end: each must be denied, not queued until a stream ends. Once a stream has ended, a request must be admitted. A failure means that streams stop counting when they begin, or after a while.",
  judge({ held, extras, extraBurst, late, freed, unnamedLater }, verdict) {
    const missed = held.filter(limitDenials(unnamedLater).isConcurrency);
    if (!held.some(limitDenials(unnamedLater).isRate))
      verdict.must("LIMIT-CONC-3", missed.length, 0, {
        in: missed[0],
        because: `streams (of ${held.length} concurrent ones, exactly the limit) denied by the concurrency limit, twice in a row`,
      });
    if (missed.length > 0) return;
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted");
    const queued = queuedAtLimit(
      [...extras.filter(({ kind }) => kind !== "model list").flatMap(({ responses }) => responses), ...extraBurst],
      held,
    );
    verdict.must("LIMIT-CONC-1", queued !== undefined, false, {
      in: queued,
      because: "queued, and served when another request had ended",
    });
    const early = extras.find(({ kind }) => kind === "plain requests")?.responses ?? [];
    const moments: readonly (readonly [string, readonly Response[]])[] = [
      ["at the concurrency limit", early],
      ["at the concurrency limit, after denials", extraBurst],
      ["shortly before the streams ended", late],
    ];
    if (![...early, ...extraBurst].some((response) => wasAtLimit(response, held))) {
      return verdict.inconclusive(
        "the streams were over before a request could be tried; name a longer model as models.stream",
      );
    }
    for (const [when, responses] of moments) {
      const served = servedAtLimit(responses, held);
      verdict.must("LIMIT-CONC-3", served !== undefined, false, { in: served, because: `served ${when}` });
    }
    if (freed !== null) {
      verdict.must("LIMIT-CONC-3", limitDenials(unnamedLater).isConcurrency(freed), false, {
        in: freed,
        because: "denied by the concurrency limit when one of the streams had ended",
      });
    }
  },
});

const runningUnaffected = defineCheck({
  id: "limits.concurrency-running-unaffected",
  scenario: concurrencyScenario,
  title: "Denying a request does not affect those in flight",
  covers: ["LIMIT-CONC-7"],
  explains:
    "The streams that filled the concurrency limit while other requests were denied should all end normally and at full length. If all others have the same length, one that is much shorter counts as truncated.",
  judge({ held }, verdict) {
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted");
    const broken = held.filter(({ admitted }) => !admitted);
    verdict.should("LIMIT-CONC-7", broken.length, 0, {
      in: broken[0],
      because: `held streams (of ${held.length}) that did not end normally${broken[0] === undefined ? "" : ` (${broken[0].summary})`}`,
    });
    const cut = muchShorter(held);
    verdict.should("LIMIT-CONC-7", cut.length, 0, {
      in: cut[0],
      because: `held streams (of ${held.length}) that were much shorter than the others`,
    });
  },
});

/** A stream is much shorter if it has less than this share of the usual length. */
const SHORT_SHARE = 0.7;
/** If a model's replies vary by more than this share, a shorter one may simply be a short reply. */
const ALIKE_SHARE = 0.1;

/**
 * Of identical stream requests, those whose replies are much shorter than all others of their dialect, if the others have one
 * length.
 */
export function muchShorter(streams: readonly Response[]): readonly Response[] {
  // The dialects need different numbers of bytes for the same text.
  const groups = DIALECTS.map((dialect) => {
    const alike = streams.filter(({ requested }) => requested.endpoint === dialect);
    const lengths = alike.map(({ bytes }) => bytes.length);
    const usual = alike.length > 2 ? median(lengths) : Math.max(0, ...lengths);
    const rest = alike.filter(({ bytes }) => bytes.length >= usual * SHORT_SHARE);
    return {
      short: alike.filter((response) => !rest.includes(response)),
      rest,
      areAlike: rest.every(({ bytes }) => Math.abs(bytes.length - usual) <= usual * ALIKE_SHARE),
    };
  });
  // At least two of the same length show that the model's replies have a steady length.
  const isSteady = groups.every(({ areAlike }) => areAlike) && groups.some(({ rest }) => rest.length > 1);
  return isSteady ? groups.flatMap(({ short }) => short) : [];
}

const denialFormat = defineCheck({
  id: "limits.concurrency-denial",
  scenario: concurrencyScenario,
  title: "A concurrency denial is a 429 concurrency_limit_exceeded in both dialects, streaming and non-streaming",
  covers: denialRequirements("concurrency_limit_exceeded"),
  explains:
    "Checks every concurrency denial of the scenario: status, reason header, action hint, and the body's shape in the chat dialect. One 5xx may be a provider's; several mean that the gateway denies with 5xx.",
  judge({ extras, extraBurst, late, burst, expected }, verdict) {
    const tried = [
      ...burst,
      ...extraBurst,
      ...late,
      ...extras.filter(({ kind }) => kind !== "model list").flatMap(({ responses }) => responses),
    ];
    const refused = withoutStrays(tried).filter(
      (response) => isConcurrencyDenial(response) || response.status === 429 || (response.status ?? 500) >= 500,
    );
    verdict.assume(refused.length > 0, "something was denied at the concurrency limit");
    for (const response of refused) judgeDenial(verdict, response, expected);
  },
});

/** A denial that took this much longer than the admitted requests took to begin was queued first, ms. */
const PROMPT_MS = 1_500;

const notQueued = defineCheck({
  id: "limits.concurrency-not-queued",
  scenario: concurrencyScenario,
  basis: "timing",
  title: "Requests over the limit are denied immediately, not queued",
  covers: ["ANSWER-IN-TIME"],
  explains:
    "A request over the limit must be denied while the others are still in flight. One that gets its response only when another has ended was queued: a caller that is never denied does not know that it should reduce parallelism.",
  judge({ extras, extraBurst, held, unnamedLater }, verdict) {
    verdict.assume(held.every(isServed), "streams up to the concurrency limit were admitted");
    const denied = [...extraBurst, ...extras.flatMap(({ responses }) => responses)].filter(
      limitDenials(unnamedLater).isConcurrency,
    );
    if (denied.length === 0) return verdict.inconclusive("nothing was denied; see limits.concurrency-enforced");
    // A gateway that is slow with everything, as on a busy machine, does not queue.
    const usualMs = Math.max(...held.map(({ exchange }) => beginsAfterMs(exchange.timeline)));
    const slow = denied.filter((response) => response.durationMs > usualMs + PROMPT_MS && !wasAtLimit(response, held));
    const most = that("fewer than half of them", (count) => (count as number) < denied.length / 2);
    verdict.should("ANSWER-IN-TIME", slow.length, most, {
      in: slow[0],
      because: `denials (of ${denied.length}) that took over ${PROMPT_MS} ms longer than the first byte of an admitted request (${Math.round(usualMs)} ms)`,
    });
  },
});

const beginsAfterMs = ({ sentUs = 0, headersUs = 0 }: Response["exchange"]["timeline"]): number =>
  Math.max(0, headersUs - sentUs) / 1_000;

export const CONCURRENCY_LIMIT: readonly Check[] = [
  enforced,
  exact,
  nonStreaming,
  silentStreams,
  heldToTheEnd,
  runningUnaffected,
  denialFormat,
  notQueued,
];
