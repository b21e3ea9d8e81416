import { readFileSync } from "node:fs";
import { ConfigError, fileProblem } from "../core/index.ts";
import { readYaml } from "../target/index.ts";
import { type RunningUpstream, type Scenario, scenarioSchema, startUpstream } from "../upstream/index.ts";

export { measureCeiling } from "./upstream-ceiling.ts";

/** The options of `gauntlet upstream`. */
export interface UpstreamCommandOptions {
  readonly host: string;
  readonly port: number;
  readonly "control-port": number;
  /** Path of a scenario file. */
  readonly scenario?: string | undefined;
}

/** Starts the providers of a scenario. @throws ConfigError for a file that is no scenario. */
export function startProviders(options: UpstreamCommandOptions): Promise<RunningUpstream> {
  const scenario = options.scenario === undefined ? scenarioSchema.parse({}) : readScenario(options.scenario);
  return startUpstream({ host: options.host, port: options.port, controlPort: options["control-port"], scenario });
}

function readScenario(path: string): Scenario {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    throw new ConfigError([{ file: path, path: "", message: `cannot be read: ${fileProblem(error)}.` }], {
      hint: "gauntlet upstream --help says what a scenario file is.",
    });
  }
  return readYaml(text, path, scenarioSchema).value;
}
