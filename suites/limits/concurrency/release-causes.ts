import { isTimedOut, type LimitedAccount, type RequestSpec, type Session } from "../../../src/checks/index.ts";
import { MODES, toolsOf } from "../../../src/dialects/index.ts";
import { otherDialect } from "../../shared/cases/other-dialect.ts";
import { servable } from "../../shared/cases/servable.ts";
import { inTurns, LONG_STORY, LONG_TEXT } from "../../shared/requests/texts.ts";
import { ONE_TOOL } from "../../shared/requests/tools.ts";

/**
 * How long a gateway may take to notice that a client disconnected. The specification does not show how soon, so a miss is a
 * warning.
 */
export const NOTICE_MS = [2_000, 10_000] as const;

/** Consecutive requests that show an occasional leak, and how long they may take, ms. */
const MANY = 240;
const MANY_MS = 10_000;
/** A request whose reply would be a tool call. */
function withTool(request: RequestSpec): RequestSpec {
  const dialect = request.endpoint === "messages" ? "messages" : "chat";
  return { ...request, prompt: "What is the weather in Oslo?", fields: { tools: toolsOf(dialect, ONE_TOOL) } };
}

/** How long after sending a request its client disconnects, ms: it is under way by then. */
const LEFT_AFTER_MS = 300;
/** Time into a stream at which late clients disconnect, ms. */
const LONG_AFTER_MS = 1_300;
const LONG_CONVERSATION = inTurns("hello", LONG_TEXT, "Noted.");

/** Something that ends requests, after which none of them may count as in flight. */
export interface ReleaseCause {
  /** Which requests have ended by then. */
  readonly what: string;
  /** Whether clients disconnected: a gateway takes a while to notice. */
  readonly disconnects?: true;
  /** Whether providers fail: a gateway may pause them for a while. */
  readonly failsUpstream?: true;
  /** Whether it takes many requests to show. */
  readonly isMany?: true;
  run(): Promise<unknown>;
}

export interface CauseOptions {
  readonly account: LimitedAccount;
  /** A stream that stays in flight for seconds. */
  readonly long: RequestSpec;
  /** Pause between requests, ms; 0 if the limiter allows bursts. */
  readonly spacingMs: number;
}

/**
 * The ways in which requests end, as far as the target has models for them. Similar causes share a wave: each wave takes seconds.
 */
export async function releaseCauses(t: Session, options: CauseOptions): Promise<ReleaseCause[]> {
  const { account, long, spacingMs } = options;
  const { key } = account;
  const each = (requests: readonly RequestSpec[]) => sendInTurn(t, options, requests);
  const forms = (request: RequestSpec) => inEveryForm(t, request);
  const calling = (await servable(t, forms({ model: "tools" }))).map(withTool);
  const failing = await servable(t, forms({ model: "upstreamError" }));
  const hanging = spacingMs > 0 || t.run.isQuick ? [] : await servable(t, forms({ key, model: "upstreamTimeout" }));
  const cut = (await servable(t, forms({ model: "cutStream" }))).filter(({ mode }) => mode === "streaming");
  const causes: readonly (ReleaseCause & { readonly possible?: boolean })[] = [
    {
      what: "finished requests",
      async run() {
        await each(forms({ intent: "any" }));
        await each(conversations(t));
        // Ended by their output limit.
        await each(forms({ intent: "any", prompt: LONG_STORY, maxTokens: 2 }));
        await each(calling);
      },
    },
    {
      what: "denied requests and refused bodies",
      async run() {
        await each(forms({ model: "unknown" }));
        await each(forms({ omit: ["messages"] }));
      },
    },
    {
      what: "streams whose client disconnected",
      disconnects: true,
      run: () => abortStreams(t, account, long),
    },
    {
      what: "non-streaming requests whose client disconnected",
      disconnects: true,
      possible: await t.hasModel("slow"),
      run: () => abort(t, [{ key, model: "slow" }], { afterMs: LEFT_AFTER_MS, count: account.limits.inFlight }),
    },
    {
      what: "many finished requests",
      isMany: true,
      possible: spacingMs === 0,
      run: () => sendMany(t, options),
    },
    // Last: requests after upstream failures may be refused for a while.
    {
      what: "failed requests",
      failsUpstream: true,
      possible: failing.length + hanging.length > 0,
      async run() {
        await each(failing);
        // An upstream timeout takes a while, so these are sent together.
        await sendTogether(t, account, await endingByThemselves(t, hanging));
      },
    },
    {
      what: "broken streams",
      failsUpstream: true,
      possible: cut.length > 0,
      // They fail after a second.
      run: () => (t.run.isQuick ? Promise.all(cut.map((one) => each([one]))) : each(cut)),
    },
  ];
  return causes.filter(({ possible = true }) => possible);
}

/** Aborted streams and replies together, and those that ended normally; few of each. */
export async function quickCauses(t: Session, options: CauseOptions): Promise<ReleaseCause[]> {
  const causes = await releaseCauses(t, options);
  const ended = causes.filter(({ disconnects, isMany }) => disconnects !== true && isMany !== true);
  const { account, long } = options;
  const { key, limits } = account;
  const left = await servable(t, [
    long,
    { ...long, endpoint: otherDialect(t) ?? t.dialect },
    { key, model: "slow", freshConnection: true },
  ]);
  return [
    {
      what: "streams and replies whose client disconnected",
      disconnects: true,
      run: () => abort(t, left, { afterMs: LEFT_AFTER_MS, count: limits.inFlight }),
    },
    // If replies are slow, requests that disturb no other check do not wait for the others.
    ...(t.replyTimes.concurrentRequests > 1
      ? [
          ended.filter(({ failsUpstream }) => failsUpstream !== true),
          ended.filter(({ failsUpstream }) => failsUpstream),
        ]
      : [ended]
    ).flatMap(inOneWave),
  ];
}

/** Similar causes, one after the other. */
function inOneWave(causes: readonly ReleaseCause[]): ReleaseCause[] {
  if (causes.length === 0) return [];
  const failsUpstream = causes.some((cause) => cause.failsUpstream === true);
  const runAll = async () => {
    for (const { run } of causes) await run();
  };
  const what = causes.map((cause) => cause.what).join(", ");
  return [{ what, run: runAll, ...(failsUpstream && { failsUpstream }) }];
}

/**
 * Requests with a silent provider, if the gateway times out before this client does: otherwise it would be the client that
 * disconnects.
 */
async function endingByThemselves(t: Session, requests: readonly RequestSpec[]): Promise<readonly RequestSpec[]> {
  const [first] = requests;
  if (first === undefined) return [];
  const { exchange } = await t.start({ ...first, intent: "invalid" }).done;
  return isTimedOut(exchange) ? [] : requests;
}

/** Requests with more content than the plainest one. */
function conversations(t: Session): RequestSpec[] {
  const added = { chat: { prompt: LONG_CONVERSATION }, messages: { system: "Be brief." } } as const;
  return MODES.flatMap((mode) =>
    t.target.dialects.map((endpoint): RequestSpec => ({ endpoint, mode, ...added[endpoint] })),
  );
}

function inEveryForm(t: Session, request: RequestSpec): RequestSpec[] {
  return t.target.dialects.flatMap((endpoint) => MODES.map((mode): RequestSpec => ({ ...request, endpoint, mode })));
}

/** A request may count as in flight for a moment after its last byte, ms. */
const ENDED_MS = 250;

/**
 * Twice the concurrency limit (in a quick run each form once), one after the other: a request that is denied here would make the
 * wave test something else. If replies are slow, as many concurrently as the limit allows.
 */
async function sendInTurn(t: Session, { account, spacingMs }: CauseOptions, requests: readonly RequestSpec[]) {
  const most = 2 * account.limits.inFlight;
  const rounds = requests.length === 0 ? 0 : t.run.isQuick ? Math.min(requests.length, most) : most;
  const together = spacingMs > 0 ? 1 : Math.min(t.replyTimes.concurrentRequests, account.limits.inFlight);
  for (let round = 0; round < rounds; round += together) {
    if (spacingMs > 0) await t.wait(spacingMs);
    const count = Math.min(together, rounds - round);
    const start = (at: number) =>
      t.start({ key: account.key, intent: "invalid", ...requests[(round + at) % requests.length] });
    await Promise.all(Array.from({ length: count }, (_, at) => start(at).done));
    if (together > 1) await t.wait(ENDED_MS);
  }
}

/** As many as the concurrency limit, sent together. */
async function sendTogether(t: Session, { key, limits }: LimitedAccount, requests: readonly RequestSpec[]) {
  const count = requests.length === 0 ? 0 : limits.inFlight;
  await Promise.all(
    Array.from(
      { length: count },
      (_, at) => t.start({ key, intent: "invalid", ...requests[at % requests.length] }).done,
    ),
  );
}

/** Many requests: one leak in a hundred needs hundreds of them to show. */
async function sendMany(t: Session, { account, spacingMs }: CauseOptions) {
  const { key, limits } = account;
  const requests = inEveryForm(t, { intent: "any" });
  const most = spacingMs > 0 ? 0 : Math.min(MANY, Math.floor(limits.rpm / 10));
  const endUs = t.nowUs() + MANY_MS * 1_000;
  let sent = 0;
  const worker = async () => {
    while (sent < most && t.nowUs() < endUs)
      await t.start({ key, intent: "invalid", ...requests[sent++ % requests.length] }).done;
  };
  await Promise.all(Array.from({ length: Math.max(1, limits.inFlight - 1) }, worker));
}

/**
 * Starts `count` requests, of several kinds in turn, and disconnects `afterMs` later; 0: as soon as all of them have begun to
 * respond.
 */
async function abort(
  t: Session,
  requests: readonly RequestSpec[],
  { afterMs, count }: { readonly afterMs: number; readonly count: number },
) {
  const leaving = Array.from({ length: count }, (_, at) =>
    t.start({ ...requests[at % requests.length], intent: "invalid", freshConnection: true }),
  );
  if (afterMs === 0) await Promise.all(leaving.map(({ started }) => started));
  else await t.wait(afterMs);
  for (const held of leaving) held.abort();
  await Promise.all(leaving.map(({ done }) => done));
}

async function abortStreams(t: Session, { key, second, limits }: LimitedAccount, long: RequestSpec) {
  const limit = limits.inFlight;
  const half = Math.max(1, Math.floor(limit / 2));
  const own: RequestSpec = { key, ...long };
  // Both dialects together: until the gateway notices that the first clients disconnected, it would deny the second.
  await Promise.all([
    abort(t, [own], { afterMs: 0, count: Math.max(1, limit - half) }),
    abort(t, [{ ...own, endpoint: otherDialect(t) ?? t.dialect }], { afterMs: LEFT_AFTER_MS, count: half }),
  ]);
  await t.wait(NOTICE_MS[0]);
  // Before anything was sent, and long after the first text; with the account's other key, too.
  await Promise.all([
    abort(t, [own], { afterMs: 20, count: 1 }),
    ...(limit > 1 ? [abort(t, [own], { afterMs: LONG_AFTER_MS, count: 1 })] : []),
    ...(limit > 2
      ? [abort(t, [second === undefined ? own : { ...own, key: second }], { afterMs: LEFT_AFTER_MS, count: 1 })]
      : []),
  ]);
}
