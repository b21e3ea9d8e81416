import { keyByReference } from "../../core/index.ts";
import { readText, readYaml } from "../../target/index.ts";
import { type RunningUpstream, type Scenario, scenarioSchema, startUpstream } from "../../upstream/index.ts";

/** The options of `gauntlet upstream`. */
export interface UpstreamCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly "control-port": number;
  /** A reference `env:NAME`. */
  readonly "control-token"?: string | undefined;
  /** Path of a scenario file. */
  readonly scenario?: string | undefined;
}

/** Starts the providers of a scenario. @throws ConfigError for a file that is not a scenario. */
export function startProviders(options: UpstreamCommandOptions): Promise<RunningUpstream> {
  const scenario = options.scenario === undefined ? scenarioSchema.parse({}) : readScenario(options.scenario);
  const { host, port, "control-port": controlPort, "control-token": reference } = options;
  const controlToken = reference === undefined ? undefined : keyByReference("--control-token", reference);
  return startUpstream({ host, port, controlPort, controlToken, scenario });
}

function readScenario(path: string): Scenario {
  const text = readText(path, "gauntlet upstream --help describes scenario files.");
  return readYaml(text, path, scenarioSchema).value;
}
