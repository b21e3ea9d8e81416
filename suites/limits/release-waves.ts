import { isStale, type LimitedAccount, type RequestSpec, type Response, type Session } from "../../src/checks/index.ts";
import { servable } from "../shared/servable.ts";
import { inTurns, LONG_STORY, LONG_TEXT } from "../shared/texts.ts";
import { ONE_TOOL, toolsOf } from "../shared/tools.ts";
import { atOnce } from "./burst.ts";
import { admittedIn, limitDenials, type Unnamed } from "./limit-denials.ts";

/** Requests sent all at once. `what` says what had happened to the slots before. */
export type Wave = {
  readonly what: string;
  /** Slots that are free by then. */
  readonly expected: number;
  readonly answers: readonly Response[];
  /** Sent again after more time, when slots were still missing after clients had left. */
  readonly later: readonly Response[] | null;
};

/** A slot may be freed a moment after the last byte was read; one that is looked for in vain is looked for once more. */
export const SETTLE_MS = 250;
export const LATE_MS = 1_500;
/** Requests in a row that look for a slot lost now and then, and how long they may take, ms. */
const MANY = 240;
const MANY_MS = 10_000;
/** How long a gateway may take to notice that a client left; how soon is not shown, so a miss is a warning. */
const NOTICE_MS = [2_000, 10_000] as const;

/** Sends at half the account's rate: no limiter has a reason to deny these for it. */
export async function evenly(t: Session, request: RequestSpec, count: number, spacingMs: number): Promise<Response[]> {
  const sent: Promise<Response>[] = [];
  for (let index = 0; index < count; index++) {
    sent.push(t.start(request).done);
    await t.wait(spacingMs);
  }
  return Promise.all(sent);
}

/** A request that a tool would answer. */
function withTool(request: RequestSpec): RequestSpec {
  const dialect = request.endpoint === "messages" ? "messages" : "chat";
  return { ...request, prompt: "What is the weather in Oslo?", fields: { tools: toolsOf(dialect, ONE_TOOL) } };
}

/** Into a stream, ms: clients that leave late. */
const LONG_AFTER_MS = 1_300;
const LONG_CONVERSATION = inTurns("hello", LONG_TEXT, "Noted.");

export interface WavePacing {
  /** Pause between requests, ms; 0 where the limiter has burst enough. */
  readonly spacingMs: number;
  /** Whose a 429 is that names no limit. */
  readonly unnamed: Unnamed;
}

/** Full waves, each after another thing that ends requests. */
export async function wavesAfterRelease(
  t: Session,
  account: LimitedAccount,
  long: RequestSpec,
  { spacingMs, unnamed }: WavePacing,
): Promise<Wave[]> {
  const { key, limits } = account;
  const wave = async (request: RequestSpec): Promise<Response[]> => {
    const count = limits.inFlight + 2;
    if (spacingMs > 0) return evenly(t, long, count, spacingMs);
    const answers = await atOnce(t, [request], count);
    // A connection that was closed while it was idle says nothing of slots; new ones are not closed.
    if (answers.some(({ exchange }) => isStale(exchange))) return wave(long);
    if (!answers.some(limitDenials(unnamed).isRate)) return answers;
    // A limiter with little burst has had enough of our speed: at half the account's rate it has no reason to deny.
    const easyMs = 120_000 / limits.rpm;
    await t.wait(easyMs * count);
    return evenly(t, long, count, easyMs);
  };
  const slots = limits.inFlight;
  const each = async (asks: readonly RequestSpec[]) => {
    // One after the other: what ends here must not be denied itself, or the wave would test something else.
    for (let round = 0; round < 2 * slots && asks.length > 0; round++) {
      if (spacingMs > 0) await t.wait(spacingMs);
      await t.start({ key, intent: "odd", ...asks[round % asks.length] }).done;
    }
  };
  const together = (asks: readonly RequestSpec[]) =>
    Promise.all(
      Array.from(
        { length: asks.length === 0 ? 0 : slots },
        (_, at) => t.start({ key, intent: "odd", ...asks[at % asks.length] }).done,
      ),
    );
  /** A leak of one slot in many requests needs many requests to show. */
  const many = async () => {
    const asks = both({ intent: "either" });
    const most = spacingMs > 0 ? 0 : Math.min(MANY, Math.floor(limits.rpm / 10));
    const endUs = t.nowUs() + MANY_MS * 1_000;
    let sent = 0;
    const worker = async () => {
      while (sent < most && t.nowUs() < endUs)
        await t.start({ key, intent: "odd", ...asks[sent++ % asks.length] }).done;
    };
    await Promise.all(Array.from({ length: Math.max(1, slots - 1) }, worker));
  };
  const leave = async (request: RequestSpec, afterMs: number, count = slots) => {
    const leaving = Array.from({ length: count }, () =>
      t.start({ key, ...request, intent: "odd", freshConnection: true }),
    );
    if (afterMs === 0) await Promise.all(leaving.map(({ live }) => live.started));
    else await t.wait(afterMs);
    for (const { live } of leaving) live.abort();
    await Promise.all(leaving.map(({ done }) => done));
  };
  const both = (request: RequestSpec): RequestSpec[] => [
    { ...request, endpoint: "chat", mode: "non-streaming" },
    { ...request, endpoint: "chat", mode: "streaming" },
    { ...request, endpoint: "messages", mode: "non-streaming" },
    { ...request, endpoint: "messages", mode: "streaming" },
  ];
  const calling = (await servable(t, both({ model: "tools" }))).map(withTool);
  const failing = await servable(t, both({ model: "upstreamError" }));
  // All at once: a provider's time-out takes its time.
  const hanging = spacingMs > 0 ? [] : await servable(t, both({ model: "upstreamTimeout" }));
  const cut = (await servable(t, both({ model: "cutStream" }))).filter(({ mode }) => mode === "streaming");
  const finish = async () => {
    await each(both({ intent: "either" }));
    await each([
      { endpoint: "chat", prompt: LONG_CONVERSATION },
      { endpoint: "messages", system: "Be brief." },
      { endpoint: "chat", mode: "streaming", prompt: LONG_CONVERSATION },
      { endpoint: "messages", mode: "streaming", system: "Be brief." },
    ]);
    // Ended by their output limit.
    await each(both({ intent: "either", prompt: LONG_STORY, maxTokens: 2 }));
    await each(calling);
  };
  const beRefused = async () => {
    await each(both({ model: "unknown" }));
    await each(both({ omit: ["messages"] }));
  };
  const fail = async () => {
    await each(failing);
    await together(hanging);
  };
  const half = Math.max(1, Math.floor(slots / 2));
  // Together: a gateway may take so long to notice the first that the second would be denied.
  const leaveStreams = async () => {
    await Promise.all([leave(long, 0, Math.max(1, slots - half)), leave({ ...long, endpoint: "messages" }, 300, half)]);
    await t.wait(NOTICE_MS[0]);
    // Before anything came, and long after the first text; on the account's other key, too.
    const other = account.second === undefined ? long : { ...long, key: account.second };
    await Promise.all([
      leave(long, 20, 1),
      ...(slots > 1 ? [leave(long, LONG_AFTER_MS, 1)] : []),
      ...(slots > 2 ? [leave(other, 300, 1)] : []),
    ]);
  };
  // What ends alike shares a wave: each takes as long as the streams that fill the limit.
  const endings: readonly { what: string; act: () => Promise<unknown>; left: boolean; possible: boolean }[] = [
    { what: "finished requests", act: finish, left: false, possible: true },
    { what: "denied requests and refused bodies", act: beRefused, left: false, possible: true },
    { what: "failed requests", act: fail, left: false, possible: failing.length + hanging.length > 0 },
    { what: "broken streams", act: () => each(cut), left: false, possible: cut.length > 0 },
    { what: "streams whose client left", act: leaveStreams, left: true, possible: true },
    {
      what: "non-streaming requests whose client left",
      act: () => leave({ endpoint: "chat", model: "slow" }, 300),
      left: true,
      possible: await t.hasModel("slow", "chat"),
    },
    { what: "many finished requests", act: many, left: false, possible: spacingMs === 0 },
  ];
  const waves: Wave[] = [];
  for (const { what, act, left, possible } of endings) {
    if (!possible) continue;
    await act();
    await t.wait(left ? NOTICE_MS[0] : SETTLE_MS);
    // Connections that carried others before: a request on one must take one slot, too.
    const request = left ? long : { ...long, freshConnection: false };
    const answers = await wave(request);
    let later: Response[] | null = null;
    if (admittedIn(answers) < slots && answers.some(limitDenials(unnamed).isConcurrency)) {
      await t.wait(left ? NOTICE_MS[1] : LATE_MS);
      later = await wave(request);
    }
    waves.push({ what, expected: slots, answers, later });
    await t.wait(SETTLE_MS);
  }
  return waves;
}
