import { CHECKS } from "../../../suites/index.ts";
import { instancesOf, type RequestInfo, Response, runChecks, select, Traffic } from "../../checks/index.ts";
import type { Behaviour, ComparedResponse, StoredSide } from "../../compare/index.ts";
import { isObject } from "../../core/index.ts";
import type { Exchange } from "../../http/recorder/index.ts";
import { readRun } from "../../record/index.ts";
import type { OnProgress, Permit } from "../../run/control/index.ts";
import type { Build } from "../../run/open/index.ts";
import { prepare } from "../../run/preflight/index.ts";

/** Suites that find much in little time; the others wait for minutes or use up states. */
export const QUICK_SUITES = ["models", "auth", "chat", "messages", "streaming", "errors", "compat"] as const;

export interface ObserveOptions {
  /** What is observed, for the progress messages. */
  readonly name: string;
  readonly budget: Permit["budget"];
  readonly suites: readonly string[];
  readonly seed: number;
  readonly signal: AbortSignal;
  readonly onProgress: OnProgress;
}

/** Runs conformance suites against a build and records its behaviour. */
export async function observeBehaviour(
  { target, provisioner }: Build,
  { name, budget, suites, seed, signal, onProgress }: ObserveOptions,
): Promise<Behaviour & { readonly requests: number; readonly traffic: Pick<Traffic, "recorder"> }> {
  const responses = new Map<string, ComparedResponse>();
  await using traffic = new Traffic({
    target,
    budget,
    seed,
    signal,
    provisioner,
    onResponse: (response) => {
      const observation = comparedOf(response);
      if (observation !== undefined) responses.set(response.id, observation);
    },
  });
  onProgress({ kind: "step", text: `${name}: connecting to ${target.baseUrl}` });
  const prepared = await prepare(traffic);
  const instances = select(CHECKS, { suites, only: [] });
  let done = 0;
  const checks = await runChecks({
    instances,
    traffic: prepared,
    onResult: () => onProgress({ kind: "step", text: `${name}: ${++done} of ${instances.length} check instances` }),
  });
  return { checks, responses, requests: traffic.sent.requests, traffic };
}

const INVARIANTS: ReadonlySet<string> = new Set(
  CHECKS.filter(({ kind }) => kind === "invariant").flatMap((check) => instancesOf(check).map(({ id }) => id)),
);

/** A stored run with the shape of its responses. */
export function storedSide(folder: string, name: string): StoredSide {
  const { record, exchanges } = readRun(folder);
  const rules = record.target.reading;
  const responses = new Map<string, ComparedResponse>();
  for (const { requested, exchange } of exchanges as { requested: RequestInfo; exchange: Exchange }[]) {
    const observation = comparedOf(new Response(exchange, requested, rules));
    if (observation !== undefined) responses.set(exchange.id, observation);
  }
  return { name, folder, record, behaviour: { checks: record.checks, responses, invariants: INVARIANTS } };
}

/** A request by what its check expects of it. */
const REQUESTS = {
  valid: "valid request",
  any: "request that may be denied",
  invalid: "unusual or invalid request",
  denied: "request to be denied",
} as const satisfies Readonly<Record<RequestInfo["intent"], string>>;

function comparedOf(response: Response): ComparedResponse | undefined {
  const { status, requested } = response;
  if (status === undefined) return undefined;
  const failed = status >= 400;
  const message = failed ? response.error.message : undefined;
  return {
    kind: `${requested.endpoint} ${requested.mode}, ${REQUESTS[requested.intent]}`,
    status,
    reason: response.reason,
    headers: response.headers,
    documents: documentsOf(response),
    message: typeof message === "string" ? message : undefined,
  };
}

function documentsOf(response: Response): unknown[] {
  if (isObject(response.json)) return [response.json];
  return response.stream.events.flatMap(({ json }) => (isObject(json) ? [json] : []));
}
