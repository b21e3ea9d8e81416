import type { Scenario } from "./scenario.ts";

interface ScriptedRun {
  /** Ends in `/v1`. */
  readonly baseUrl: string;
  readonly key: string;
  readonly scenario: Scenario;
}

/** Seconds after which a command is asked to give a request up, where the scenario does not say. */
const GIVE_UP_S = 30;

/**
 * What a command finds in its environment: address and key under the names that usual clients read by themselves, and what
 * the scenario asks of it. Keys of the operator under these names are replaced: they must not come to a scripted gateway.
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
    GAUNTLET_TIMEOUT_S: String(scenario.giveUpS ?? GIVE_UP_S),
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
