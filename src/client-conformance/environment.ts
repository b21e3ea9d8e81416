import type { Scenario } from "./scenario.ts";

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
export function environmentFor(
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
