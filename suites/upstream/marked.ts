import type { ProviderSaw, RequestSpec, Response, Session, Upstreamed } from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";

/** What the providers answer, by their names; `*` is any other. */
export type Answers = Parameters<Session["upstream"]["answer"]>[1];

/** A request of ours, and what the gateway made of it. */
export type Passed = {
  readonly marker: string;
  readonly response: Response;
  /** What the providers saw. */
  readonly upstream: Upstreamed;
};

/** How long a provider may take to note the end of a request whose answer is here, ms. */
const NOTED_MS = 2_000;

const hasEnded = ({ end }: ProviderSaw): boolean => end !== undefined;

/** Sends a request that the providers know, and waits until they are through with it. */
export async function sendMarked(t: Session, request: RequestSpec = {}, answers: Answers = {}): Promise<Passed> {
  const marker = t.upstream.marker();
  if (Object.keys(answers).length > 0) await t.upstream.answer(marker, answers);
  const own = { upstreamFails: Object.keys(answers).length > 0, ...request };
  const response = await t.send(t.upstream.marked(marker, t.dialect, withMarker(own, marker)));
  const upstream = await t.upstream.until(marker, (seen) => seen.every(hasEnded), NOTED_MS);
  return { marker, response, upstream };
}

/** A prompt of one's own has to hold the marker, too: it stands in for `MARKER`. */
function withMarker({ prompt, fields, ...request }: RequestSpec, marker: string): RequestSpec {
  const put = <T>(value: T): T => JSON.parse(JSON.stringify(value).replaceAll(MARKER, marker)) as T;
  return {
    ...request,
    ...(prompt === undefined ? {} : { prompt: put(prompt) }),
    ...(fields === undefined ? {} : { fields: put(fields) }),
  };
}

/** Place of the marker in a prompt. */
export const MARKER = "(marker)";

/** A plain request in the check's dialect and mode, once per run: what comes of it when nothing is wrong. */
export function sendPlain(t: Session, mode = t.mode): Promise<Passed> {
  return t.once(`upstream.plain-${t.dialect}-${mode}`, async () => {
    const plain = await sendMarked(t, { mode });
    // From now on the operator's key is known, and masked wherever it turns up.
    await t.upstream.credentials(plain.marker);
    return plain;
  });
}

/** Times that a provider is asked whether it serves again, and between them, ms. */
const TRIES = 4;
export const PAUSE_MS = 3_000;

/**
 * A plain request at this moment. After failures a gateway may leave its providers alone for a while, which is waited for: not where
 * such requests were never served, and once in vain is enough.
 */
export async function sendPlainNow(t: Session, mode = t.mode): Promise<Passed> {
  const first = await sendPlain(t, mode);
  if (!first.response.admitted) return first;
  const recovery = await t.once("upstream.recovery", async () => ({ isGivenUp: false }));
  let plain = await sendMarked(t, { mode });
  for (let more = 1; more < TRIES && !plain.response.admitted && !recovery.isGivenUp; more++) {
    await t.wait(PAUSE_MS, "a provider to be asked again");
    plain = await sendMarked(t, { mode });
  }
  recovery.isGivenUp = !plain.response.admitted;
  await t.upstream.credentials(plain.marker);
  return plain;
}

/** What came of a request that was not sent, because plain ones are not served. */
export const NOTHING_CAME: Upstreamed = { nowMs: 0, requests: [], ourKeys: 0 };

/** Goes on only when a plain request was served, and by these providers. */
export function assumePassed(verdict: Verdict, { response, upstream }: Passed): void {
  const { endpoint, mode } = response.requested;
  const { status = 0 } = response;
  if (endpoint === "messages" && mode === "streaming" && status >= 400 && status < 500)
    verdict.notApplicable(`this gateway does not stream on /messages (${response.summary})`);
  verdict.assumeGood(response, "a request for a model of these providers");
  if (upstream.requests.length > 0) return;
  const model = `  model: { ${endpoint}: <a model that they serve> }`;
  verdict.missingFixture("the request did not come to the providers of `upstream`", ["upstream:", model]);
}

/** Whether the gateway and its provider speak the same dialect, so that bodies can be compared field by field. */
export function isSameDialect({ response, upstream }: Passed): boolean {
  const isMessages = /\/messages(?:\?|$)/.test(upstream.requests[0]?.path ?? "");
  return isMessages === (response.requested.endpoint === "messages");
}

/** The numbered words that a provider sends by default, each with so many bytes. */
export const wordsOf = (sizes: readonly number[]): string[] =>
  sizes.map((bytes, index) => `${`w${index}`.padEnd(bytes - 1, "-")} `);
