import type { HeldRequest, LimitedAccount, RequestSpec, Response, Session } from "../../../src/checks/index.ts";
import { servable } from "../../shared/cases/servable.ts";
import { abortOnceDecided } from "../send.ts";
import { untilInFlight } from "./in-flight.ts";

/** Streams that kept running while other requests of the account ended, and the streams sent after that. */
export type PartialRelease = {
  readonly what: string;
  readonly held: readonly Response[];
  readonly extras: readonly Response[];
};

/** Streams that are sent afterwards: more than one ended stream makes room for. */
const EXTRAS = 4;
/** A gateway may take a moment to notice that a client disconnected, ms; the streams must still be running then. */
const NOTICED_MS = 300;

/**
 * Two attempts: one below the limit, with requests that end in every quick way, and one at the limit, where the client aborts one
 * stream. A quick run does both together.
 */
export async function releaseSome(
  t: Session,
  { key, limits }: LimitedAccount,
  long: RequestSpec,
): Promise<PartialRelease[]> {
  const endings = await endingsOf(t);
  const endOthers = async () => {
    for (const request of endings) await t.start({ mode: "non-streaming", ...request, key, intent: "invalid" }).done;
  };
  const leaveOne = async ([first]: readonly HeldRequest[]) => {
    first?.abort();
    await t.wait(NOTICED_MS);
  };
  if (t.run.isQuick) {
    const what = "others had ended meanwhile and the client had disconnected from one of them";
    return [await fill(t, long, limits.inFlight - 1, what, (held) => endOthers().then(() => leaveOne(held)))];
  }
  return [
    await fill(t, long, limits.inFlight - 1, "others had ended meanwhile", endOthers),
    await fill(t, long, limits.inFlight, "the client had disconnected from one of them", leaveOne),
  ];
}

/** Requests that end soon, each in a different way. */
function endingsOf(t: Session): Promise<RequestSpec[]> {
  return servable(t, [
    ...t.target.dialects.map((endpoint) => ({ endpoint })),
    { mode: "streaming" },
    { model: "unknown" },
    ...t.target.dialects.map((endpoint): RequestSpec => ({ endpoint, model: "upstreamError" })),
    { mode: "streaming", model: "cutStream" },
  ]);
}

async function fill(
  t: Session,
  long: RequestSpec,
  streams: number,
  what: string,
  end: (held: readonly HeldRequest[]) => Promise<void>,
): Promise<PartialRelease> {
  const held = Array.from({ length: streams }, () => t.start(long));
  await untilInFlight(t, held);
  await end(held);
  const extras = Array.from({ length: EXTRAS }, () => t.start(long));
  const all = [...held, ...extras];
  const responses = await (t.run.isQuick ? abortOnceDecided(t, all) : Promise.all(all.map(({ done }) => done)));
  return { what, held: responses.slice(0, streams), extras: responses.slice(streams) };
}
