import { monitorEventLoopDelay } from "node:perf_hooks";
import { isObject, sleep } from "../core/index.ts";
import { type Script, type ScriptedRequest, type ScriptedResponse, startGateway } from "../reference-gateway/index.ts";
import { PARTIAL } from "./judges/generations.ts";
import type { Attempt, ClientRun, CommandEnding } from "./observation.ts";
import { startOtherHost } from "./other-host.ts";
import { runCommand } from "./run-command.ts";
import type { Bounds, Scenario } from "./scenario.ts";

export interface RunOptions extends Bounds {
  readonly command: readonly [program: string, ...args: string[]];
  readonly environment: Readonly<NodeJS.ProcessEnv>;
  /** Time limit for one run of the command, milliseconds. */
  readonly limitMs: number;
  readonly signal: AbortSignal;
  /** Called with the key of every gateway before the command starts: the key must never be shown. */
  readonly onKey: (key: string) => void;
}

/** Maximum wait for open requests after the command has exited, milliseconds: its connections close with it. */
const SETTLE_MS = 2_000;
const POLL_MS = 10;
/** Maximum total that one run of the command may send: every request is kept for the judges. */
const FLOOD = { requests: 2_000, bytes: 64 * 1024 * 1024 };
/** Sampling interval of this machine's lag, milliseconds. */
const SAMPLED_MS = 10;

/** Runs the command once in a scenario, with a separate gateway and redirect target. */
export async function runScenario(scenario: Scenario, copy: number, options: RunOptions): Promise<ClientRun> {
  const watch = new Watch(`${scenario.name}-${copy + 1}`, options.mostAttempts);
  let otherHost = "";
  await using gateway = await startGateway({ script: watch.script(scenario, () => otherHost) });
  const key = gateway.ready.keys.valid;
  options.onKey(key);
  await using other = await startOtherHost(key);
  otherHost = other.origin;
  const limit = setTimeout(() => watch.stop.abort("limit"), options.limitMs);
  const interrupt = () => watch.stop.abort("interrupted");
  options.signal.addEventListener("abort", interrupt, { once: true });
  if (options.signal.aborted) interrupt();
  let ending: CommandEnding;
  try {
    ending = await runCommand({
      command: options.command,
      environment: environmentFor(options.environment, { baseUrl: gateway.ready.baseUrl, key, scenario }),
      stop: watch.stop.signal,
    });
  } finally {
    clearTimeout(limit);
    watch.close();
    options.signal.removeEventListener("abort", interrupt);
  }
  for (let waited = 0; watch.open > 0 && waited < SETTLE_MS; waited += POLL_MS) await sleep(POLL_MS);
  return { ...watch.seen(), otherHost: [...other.received], ending };
}

/** Records the requests to one scripted gateway. */
class Watch {
  readonly stop = new AbortController();
  readonly #name: string;
  readonly #maxAttempts: number;
  readonly #requests: ScriptedRequest[] = [];
  readonly #responses = new Map<string, ScriptedResponse>();
  /** Calls by request, for requests that the scenario responds to. */
  readonly #calls = new Map<string, string>();
  readonly #serving = new Set<string>();
  readonly #attempts = new Map<string, number>();
  readonly #lag = monitorEventLoopDelay({ resolution: SAMPLED_MS });
  #bytes = 0;
  #enough: NodeJS.Timeout | undefined;

  constructor(name: string, mostAttempts: number) {
    this.#name = name;
    this.#maxAttempts = mostAttempts;
  }

  close(): void {
    this.#lag.disable();
    clearTimeout(this.#enough);
  }

  /** Number of open requests. */
  get open(): number {
    return this.#requests.length - this.#responses.size;
  }

  script(scenario: Scenario, otherHost: () => string): Script {
    return {
      arrived: (request) => {
        this.#requests.push(request);
        this.#bytes += request.body.length;
        if (this.#requests.length > FLOOD.requests || this.#bytes > FLOOD.bytes) this.stop.abort("flood");
      },
      turn: (request) => {
        const call = callOf(request);
        const before = this.#attempts.get(call) ?? 0;
        this.#attempts.set(call, before + 1);
        this.#calls.set(request.id, call);
        // Earlier lag is our own startup.
        this.#lag.enable();
        // Starts at the first attempt: the startup time of the program does not count.
        if (scenario.watchMs !== undefined) {
          this.#enough ??= setTimeout(() => this.stop.abort("watch"), scenario.watchMs);
        }
        if (before >= this.#maxAttempts) this.stop.abort("attempts");
        const turn = scenario.turn(request, { before, serving: this.#serving.size, otherHost: otherHost() });
        if (turn.do === "serve") this.#serving.add(request.id);
        return turn;
      },
      ended: (request, response) => {
        this.#serving.delete(request.id);
        this.#responses.set(request.id, response);
      },
    };
  }

  seen(): Pick<ClientRun, "attempts" | "others" | "lagMs"> {
    const all = this.#requests.map(
      (request, index): Attempt => ({
        id: `${this.#name}.${index + 1}`,
        request,
        call: this.#calls.get(request.id) ?? "",
        response: this.#responses.get(request.id),
      }),
    );
    return {
      lagMs: Math.max(0, this.#lag.max / 1e6 - SAMPLED_MS),
      attempts: all.filter(({ request }) => this.#calls.has(request.id)),
      others: all.filter(({ request }) => !this.#calls.has(request.id)),
    };
  }
}

/**
 * The call that a request is an attempt at. Clients that number or date their attempts do so outside the conversation; a request
 * for another model is another call.
 */
function callOf({ endpoint, body }: ScriptedRequest): string {
  let parsed: unknown;
  try {
    parsed = JSON.parse(body);
  } catch {
    // Cannot happen, because the gateway accepted the body; if it does, the text is an equally good name.
  }
  if (!isObject(parsed)) return `${endpoint} ${body}`;
  const { model, system, messages } = parsed;
  return JSON.stringify([endpoint, model, system, withoutPartial(messages)]);
}

/** The conversation without a partial reply: a client that resumes from one makes an attempt at the same call. */
function withoutPartial(messages: unknown): unknown {
  if (!Array.isArray(messages)) return messages;
  const partial = messages.findIndex((turn) => PARTIAL.test(JSON.stringify(turn)));
  return partial < 0 ? messages : messages.slice(0, partial);
}

interface ScriptedRun {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly scenario: Scenario;
}

/** Timeout in seconds that a command is given for a request if the scenario does not set one. */
const DEFAULT_TIMEOUT_S = 30;

/**
 * The environment of a command: address and key under the names that common clients read automatically, and what the scenario
 * requires. Replaces the operator's own keys under these names: they must never reach a scripted gateway.
 */
function environmentFor(
  own: Readonly<NodeJS.ProcessEnv>,
  { baseUrl, key, scenario }: ScriptedRun,
): Record<string, string | undefined> {
  const host = baseUrl.replace(/\/v1$/, "");
  const noProxy = [own["NO_PROXY"] ?? own["no_proxy"], "127.0.0.1", "localhost"].filter(Boolean).join(",");
  return {
    ...own,
    GAUNTLET_BASE_URL: baseUrl,
    GAUNTLET_API_KEY: key,
    GAUNTLET_MODEL: scenario.stream === true ? "echo-stream" : "echo-fast",
    GAUNTLET_SCENARIO: scenario.name,
    GAUNTLET_CALLS: String(scenario.calls ?? 1),
    GAUNTLET_STREAM: scenario.stream === true ? "1" : "0",
    GAUNTLET_TIMEOUT_S: String(scenario.timeoutS ?? DEFAULT_TIMEOUT_S),
    OPENAI_BASE_URL: baseUrl,
    OPENAI_API_KEY: key,
    // Clients of the messages dialect add /v1/messages themselves.
    ANTHROPIC_BASE_URL: host,
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_AUTH_TOKEN: key,
    NO_PROXY: noProxy,
    no_proxy: noProxy,
  };
}
