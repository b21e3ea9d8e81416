import type { HeldRequest, RequestSpec, Response, Session } from "../../src/checks/index.ts";
import { LONG_STORY } from "../shared/requests/texts.ts";

export type RequestKey = RequestSpec["key"] & {};

/** A stream that stays in flight for as long as the long model generates, on its own connection. */
export function longStream(key: RequestKey): RequestSpec {
  return {
    key,
    mode: "streaming",
    model: "stream",
    prompt: LONG_STORY,
    intent: "any",
    freshConnection: true,
  };
}

/** The plainest request with a key; it may be denied. */
const plain = (key: RequestKey): RequestSpec => ({ key, intent: "any" });

/** One plain request, to see whether its account is denied. */
export function sendPlain(t: Session, key: RequestKey): Promise<Response> {
  return t.start(plain(key)).done;
}

/** Plain requests, sent concurrently. */
export function sendPlainAtOnce(t: Session, key: RequestKey, count: number): Promise<Response[]> {
  return atOnce(t, [plain(key)], count);
}

/** Sends all of them concurrently; the specs take turns. */
export function atOnce(t: Session, specs: readonly RequestSpec[], count: number): Promise<Response[]> {
  return Promise.all(Array.from({ length: count }, (_, at) => t.start(specs[at % specs.length] ?? {}).done));
}

/**
 * Aborts each request as soon as it has been admitted or denied, or after `latestMs`: the rest of the response adds no
 * information.
 */
export async function abortOnceDecided(
  t: Session,
  held: readonly HeldRequest[],
  latestMs?: number,
): Promise<Response[]> {
  const started = Promise.all(held.map(({ started }) => started));
  await (latestMs === undefined ? started : Promise.race([started, t.wait(latestMs)]));
  for (const each of held) each.abort();
  return Promise.all(held.map(({ done }) => done));
}
