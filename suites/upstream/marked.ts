import type { MaskedUpstreamRequest, RequestSpec, Response, Session, UpstreamTraffic } from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";

/** What the providers respond, by their names; `*` is any other. */
export type ProviderScript = Parameters<Session["upstream"]["setResponses"]>[1];

/** One of our requests, and what the gateway made of it. */
export type MarkedExchange = {
  readonly marker: string;
  readonly response: Response;
  /** What the providers saw. */
  readonly upstream: UpstreamTraffic;
};

/** How long a provider may take to record the end of a request after its response has arrived, ms. */
const NOTED_MS = 2_000;

const hasEnded = ({ end }: MaskedUpstreamRequest): boolean => end !== undefined;

/** Sends a request that the providers recognise, and waits until they are done with it. */
export async function sendMarked(
  t: Session,
  request: RequestSpec = {},
  script: ProviderScript = {},
): Promise<MarkedExchange> {
  const marker = t.upstream.marker();
  if (Object.keys(script).length > 0) await t.upstream.setResponses(marker, script);
  const own = { upstreamFails: Object.keys(script).length > 0, ...request };
  const response = await t.send(t.upstream.marked(marker, t.dialect, withMarker(own, marker)));
  const upstream = await t.upstream.until(marker, (seen) => seen.every(hasEnded), NOTED_MS);
  return { marker, response, upstream };
}

/** A custom prompt must contain the marker, too: it replaces `MARKER`. */
function withMarker({ prompt, fields, ...request }: RequestSpec, marker: string): RequestSpec {
  const put = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(MARKER, marker)) as T;
  return {
    ...request,
    ...(prompt === undefined ? {} : { prompt: put(prompt) }),
    ...(fields === undefined ? {} : { fields: put(fields) }),
  };
}

/** Position of the marker in a prompt. */
export const MARKER = "(marker)";

/** A plain request in the check's dialect and mode, once per run: the result when nothing is wrong. */
export function sendPlain(t: Session, mode = t.mode): Promise<MarkedExchange> {
  return t.scenarios.once(`upstream.plain-${t.dialect}-${mode}`, async () => {
    const plain = await sendMarked(t, { mode });
    // From here on the operator's key is known and masked everywhere.
    await t.upstream.credentials(plain.marker);
    return plain;
  });
}

/** Attempts to find out whether a provider serves again, and the time between them, ms. */
const TRIES = 4;
export const PAUSE_MS = 3_000;

/**
 * A plain request now. After failures a gateway may pause its providers; this waits for that, unless such requests were never
 * served, or waiting has already failed once.
 */
export async function sendPlainNow(t: Session, mode = t.mode): Promise<MarkedExchange> {
  const first = await sendPlain(t, mode);
  if (!first.response.admitted) return first;
  const recovery = await t.scenarios.once("upstream.recovery", async () => ({ hasFailed: false }));
  let plain = await sendMarked(t, { mode });
  for (let more = 1; more < TRIES && !plain.response.admitted && !recovery.hasFailed; more++) {
    await t.wait(PAUSE_MS, "a provider to be used again");
    plain = await sendMarked(t, { mode });
  }
  recovery.hasFailed = !plain.response.admitted;
  await t.upstream.credentials(plain.marker);
  return plain;
}

/** The result of a request that was not sent because plain ones are not served. */
export const NOTHING_RECEIVED: UpstreamTraffic = { nowMs: 0, requests: [], ourKeys: 0 };

/** Continues only if a plain request was served, and by these providers. */
export function assumeReachedProviders(verdict: Verdict, { response, upstream }: MarkedExchange): void {
  const { endpoint, mode } = response.requested;
  const { status = 0 } = response;
  if (endpoint === "messages" && mode === "streaming" && status >= 400 && status < 500)
    verdict.notApplicable(`this gateway does not stream on /messages (${response.summary})`);
  verdict.requireControl(response, "a request for a model of these providers");
  if (upstream.requests.length > 0) return;
  const model = `  model: { ${endpoint}: <a model that they serve> }`;
  verdict.missingFixture("the request did not reach the providers of `upstream`", ["upstream:", model]);
}

/** Whether the gateway and its provider use the same dialect, so that bodies can be compared field by field. */
export function isSameDialect({ response, upstream }: MarkedExchange): boolean {
  const isMessages = /\/messages(?:\?|$)/.test(upstream.requests[0]?.path ?? "");
  return isMessages === (response.requested.endpoint === "messages");
}

/** The numbered words that a provider sends by default, each with the given number of bytes. */
export const wordsOf = (sizes: readonly number[]): string[] =>
  sizes.map((bytes, index) => `${`w${index}`.padEnd(bytes - 1, "-")} `);
