import { atLeast, atMost, type Check, defineCheck, type Response, that } from "../../src/checks/index.ts";
import { median } from "../../src/core/index.ts";
import { DIALECTS } from "../../src/dialects/index.ts";
import { denialRequirements, judgeDenial } from "../shared/judge-denial.ts";
import { concurrencyScenario } from "./concurrency-scenario.ts";
import { mostInFlight, queuedAtLimit, servedAtLimit, wasAtLimit } from "./in-flight.ts";
import { admittedIn, isServed, limitDenials } from "./limit-denials.ts";

const enforced = defineCheck({
  id: "limits.concurrency-enforced",
  scenario: concurrencyScenario,
  title: "More requests in flight than the limit are denied",
  covers: ["LIMIT-CONC-1", "ERR-429-CONC", "LIMIT-2"],
  explains:
    "Sends several times as many long streams at once as there are slots. At least one must be refused: a gateway that silently queues the rest, or serves it, does not have the limit. How it is refused is a demand of its own: 429 concurrency_limit_exceeded.",
  judge({ burst, limits, unnamed, expected }, verdict) {
    const refused = burst.filter((answer) => limitDenials(unnamed).isConcurrency(answer) || isTurnedAway(answer));
    const because = `sent ${burst.length} concurrent requests with a limit of ${limits.inFlight}: ${outcomesOf(burst)}`;
    const seen = { in: refused[0] ?? burst.at(-1), because };
    verdict.must("LIMIT-CONC-1", refused.length, atLeast(1), seen);
    verdict.must("LIMIT-2", refused.length, atLeast(1), seen);
    const [first] = refused;
    if (first === undefined) return;
    const isNamed = (answer: Response) => answer.status === expected.status && answer.reason === expected.word;
    const other = refused.find((answer) => !isNamed(answer));
    const named = that(`${expected.status} ${expected.word}`, () => other === undefined);
    verdict.must("ERR-429-CONC", (other ?? first).summary, named, { in: other ?? first, because });
  },
});

/** Refused by an error that blames the gateway, or the moment, and nothing that the request has in it. */
function isTurnedAway({ status = 0 }: Response): boolean {
  return status === 503;
}

/** How many were admitted, and what the others were told, in words. */
function outcomesOf(answers: readonly Response[]): string {
  const counts = new Map<string, number>();
  for (const answer of answers) {
    const { status, reason } = answer;
    const named = status !== undefined && status >= 400 && reason === undefined ? " without a reason code" : "";
    const what = isServed(answer) ? "admitted" : `answered ${answer.summary}${named}`;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return [...counts].map(([what, count]) => `${count} ${what}`).join(", ");
}

const exact = defineCheck({
  id: "limits.concurrency-exact",
  scenario: concurrencyScenario,
  title: "Exactly the limit's number of simultaneous requests is admitted",
  covers: ["LIMIT-CONC-2", "LIMIT-2"],
  explains:
    "Of a burst far over the limit, over as many connections, exactly the number of slots is served, and never more run at one moment. Fewer means an off-by-one or leaked slots; more means counters per connection, worker or dialect, or a check that does not count at once.",
  judge({ burst, limits, unnamed }, verdict) {
    const denied = burst.find(limitDenials(unnamed).isConcurrency);
    if (denied === undefined) return verdict.inconclusive("nothing was denied; see limits.concurrency-enforced");
    const served = admittedIn(burst);
    const running = mostInFlight(burst);
    const why = `${burst.length} at once, ${limits.inFlight} slots`;
    verdict.must("LIMIT-CONC-2", served, atLeast(limits.inFlight), {
      in: denied,
      because: `served of ${why}`,
    });
    verdict.must("LIMIT-CONC-2", running, atMost(limits.inFlight), {
      in: burst.findLast(isServed),
      because: `running at one moment of ${why}`,
    });
    verdict.must("LIMIT-2", running, atMost(limits.inFlight), { because: why });
  },
});

const heldToTheEnd = defineCheck({
  id: "limits.concurrency-held",
  scenario: concurrencyScenario,
  title: "A stream holds its slot to the end, and then gives it back",
  covers: ["LIMIT-CONC-3", "LIMIT-CONC-1"],
  explains:
    "Streams take every slot. A request is tried right away, after many denials, and late in the life of the streams: always denied, and not kept waiting until a slot comes free. When a stream has ended a request is admitted. A slot that is freed when the stream begins, or after a while, shows here.",
  judge({ held, extras, extraBurst, late, freed, unnamedLater }, verdict) {
    const missed = held.filter(limitDenials(unnamedLater).isConcurrency);
    if (!held.some(limitDenials(unnamedLater).isRate))
      verdict.must("LIMIT-CONC-3", missed.length, 0, {
        in: missed[0],
        because: `of ${held.length} streams, as many as there are slots, denied for their number, twice in a row`,
      });
    if (missed.length > 0) return;
    verdict.assume(held.every(isServed), "as many streams as there are slots were admitted");
    const queued = queuedAtLimit(
      [...extras.filter(({ kind }) => kind !== "model list").flatMap(({ answers }) => answers), ...extraBurst],
      held,
    );
    verdict.must("LIMIT-CONC-1", queued !== undefined, false, {
      in: queued,
      because: "kept waiting for a slot, and served when one came free",
    });
    const early = extras.find(({ kind }) => kind === "chat")?.answers ?? [];
    const moments: readonly (readonly [string, readonly Response[]])[] = [
      ["while every slot was held", early],
      ["after denials while every slot was held", extraBurst],
      ["late in the life of the streams", late],
    ];
    if (![...early, ...extraBurst].some((answer) => wasAtLimit(answer, held))) {
      return verdict.inconclusive(
        "the streams were over before a request could be tried; name a longer model as models.stream",
      );
    }
    for (const [when, answers] of moments) {
      const served = servedAtLimit(answers, held);
      verdict.must("LIMIT-CONC-3", served !== undefined, false, { in: served, because: `served ${when}` });
    }
    if (freed !== null) {
      verdict.must("LIMIT-CONC-3", limitDenials(unnamedLater).isConcurrency(freed), false, {
        in: freed,
        because: "one stream had ended",
      });
    }
  },
});

const nonStreaming = defineCheck({
  id: "limits.concurrency-non-streaming",
  scenario: concurrencyScenario,
  title: "Whole requests hold slots, too",
  covers: ["LIMIT-CONC-1", "LIMIT-CONC-2"],
  explains:
    "Sends more non-streaming requests at once than there are slots, to a slow model. Where all of them were under way at one moment, no more than the limit may be served, and the others must be denied. Then as many as there are slots, and one more late in their life: it must be denied, too.",
  needs: ["model.slow"],
  judge({ nonStreaming, lateNonStreaming, limits }, verdict) {
    if (nonStreaming.length === 0)
      return verdict.notApplicable("the account's rate has no room for so many non-streaming requests at once");
    const served = nonStreaming.filter(isServed);
    const lastSentUs = Math.max(...served.map(({ exchange }) => exchange.timeline.sentUs ?? Number.POSITIVE_INFINITY));
    const firstEndUs = Math.min(...served.map(({ exchange }) => exchange.timeline.headersUs ?? 0));
    if (served.length === 0) return verdict.inconclusive("no whole request was served");
    if (served.length > limits.inFlight && lastSentUs > firstEndUs)
      return verdict.notApplicable("the non-streaming replies were over before all had been sent");
    const seen = {
      in: served.at(-1),
      because: `${nonStreaming.length} non-streaming requests at once, ${limits.inFlight} slots, ${served.length} served`,
    };
    verdict.must("LIMIT-CONC-2", served.length, atMost(limits.inFlight), seen);
    verdict.must("LIMIT-CONC-1", served.length < nonStreaming.length, true, seen);
    if (lateNonStreaming?.held.every(isServed) !== true) return;
    const firstDoneUs = Math.min(...lateNonStreaming.held.map(({ exchange }) => exchange.timeline.headersUs ?? 0));
    verdict.must("LIMIT-CONC-2", servedBefore(lateNonStreaming.extra, firstDoneUs), false, {
      in: lateNonStreaming.extra,
      because: "served late in the life of non-streaming requests that held every slot",
    });
  },
});

const servedBefore = (answer: Response, us: number): boolean =>
  isServed(answer) && (answer.exchange.timeline.headersUs ?? Number.POSITIVE_INFINITY) < us;

const silentStreams = defineCheck({
  id: "limits.concurrency-silent-streams",
  scenario: concurrencyScenario,
  title: "Streams of a slow model hold their slots, also while they are silent",
  covers: ["LIMIT-CONC-3"],
  explains:
    "As many streams of a slow model as there are slots, and one more request late in their life: it must be denied, although the streams may have said nothing yet.",
  needs: ["model.slow"],
  judge({ lateStream }, verdict) {
    if (lateStream === null)
      return verdict.notApplicable("the slow model is not slow, or the account's rate has no room for more streams");
    const { held, extra } = lateStream;
    if (!held.every(isServed)) return verdict.notApplicable("the slow model did not serve as many streams");
    const firstDoneUs = Math.min(...held.map(({ exchange }) => exchange.timeline.endUs));
    verdict.must("LIMIT-CONC-3", servedBefore(extra, firstDoneUs), false, {
      in: extra,
      because: "served while streams of a slow model held every slot",
    });
  },
});

const runningUnaffected = defineCheck({
  id: "limits.concurrency-running-unaffected",
  scenario: concurrencyScenario,
  title: "Denying one request leaves running ones alone",
  covers: ["LIMIT-CONC-7"],
  explains:
    "The streams that held every slot while many others were denied should all end normally, with the same text.",
  judge({ held }, verdict) {
    verdict.assume(held.every(isServed), "as many streams as there are slots were admitted");
    const broken = held.filter(({ admitted }) => !admitted);
    verdict.should("LIMIT-CONC-7", broken.length, 0, {
      in: broken[0],
      because: `of ${held.length} held streams did not end normally${broken[0] === undefined ? "" : `: ${broken[0].summary}`}`,
    });
    // Dialects say the same with more or fewer bytes.
    const cut = DIALECTS.flatMap((dialect) => {
      const alike = held.filter(({ asked }) => asked.endpoint === dialect);
      const middle = median(alike.map(({ bytes }) => bytes.length));
      return alike.filter(({ bytes }) => bytes.length < middle * 0.7);
    });
    verdict.should("LIMIT-CONC-7", cut.length, 0, {
      in: cut[0],
      because: `of ${held.length} held streams were much shorter than the others`,
    });
  },
});

const denialFormat = defineCheck({
  id: "limits.concurrency-denial",
  scenario: concurrencyScenario,
  title:
    "A denial for the number in flight is a 429 concurrency_limit_exceeded in both dialects, streaming and non-streaming",
  covers: denialRequirements("concurrency_limit_exceeded"),
  explains:
    "Every denial for the number in flight that the scenario met: status, reason header, action hint, and the body's shape in the chat dialect.",
  judge({ extras, extraBurst, late, burst, expected }, verdict) {
    const refused = [
      ...burst,
      ...extraBurst,
      ...late,
      ...extras.filter(({ kind }) => kind !== "model list").flatMap(({ answers }) => answers),
    ].filter((answer) => answer.status === 429 || (answer.status ?? 500) >= 500);
    verdict.assume(refused.length > 0, "something was denied while every slot was held");
    for (const answer of refused) judgeDenial(verdict, answer, expected);
  },
});

/** A denial that took this long was not a denial but a queue, ms. */
const PROMPT_MS = 1_500;

const notQueued = defineCheck({
  id: "limits.concurrency-not-queued",
  scenario: concurrencyScenario,
  title: "Requests over the limit are denied at once, not queued",
  covers: ["LIMIT-CONC-1"],
  explains:
    "A request over the limit is answered while the slots are still held. One that waits until a slot is free was queued: the caller cannot reduce its parallelism by what it is not told.",
  judge({ extras, extraBurst, held, unnamedLater }, verdict) {
    verdict.assume(held.every(isServed), "as many streams as there are slots were admitted");
    const denied = [...extraBurst, ...extras.flatMap(({ answers }) => answers)].filter(
      limitDenials(unnamedLater).isConcurrency,
    );
    if (denied.length === 0) return verdict.inconclusive("nothing was denied; see limits.concurrency-enforced");
    const slow = denied.filter((answer) => answer.durationMs > PROMPT_MS && !wasAtLimit(answer, held));
    const most = that("fewer than half of them", (count) => (count as number) < denied.length / 2);
    verdict.should("LIMIT-CONC-1", slow.length, most, {
      in: slow[0],
      because: `of ${denied.length} denials took longer than ${PROMPT_MS} ms`,
    });
  },
});

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
