import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { startPostgres } from "./database/postgres.ts";
import type { Gateway } from "./gateway.ts";
import { litellm, litellmEnvironment, litellmPrograms, migrate } from "./litellm.ts";
import { disturbedRuns, missingRedis, startReplicas } from "./replicas.ts";

const REPLICA_PORTS = [9222, 9223];
const REDIS_PORT = 9229;

/** Two replicas of LiteLLM with one database and one Redis. */
export const litellmReplicas: Gateway = {
  ...litellm,
  name: "litellm-replicas",
  title: "LiteLLM, two replicas",
  port: 9224,
  otherPorts: [...REPLICA_PORTS, REDIS_PORT],
  example: { name: "litellm" },
  expected: "expected-replicas.yaml",
  onlyByName: true,
  runs: disturbedRuns("replicas.yaml"),
  profiles: undefined,
  programs: litellmPrograms,
  missing: () => litellm.missing() ?? missingRedis(),
  async start(place) {
    const postgres = await startPostgres(place.logs);
    try {
      migrate(place.tools, postgres);
      const environment = { ...litellmEnvironment(place.tools, postgres), ...place.env };
      const lines = Object.entries(environment).map(([name, value]) => `export ${name}='${value}'\n`);
      writeFileSync(join(place.example, "environment"), lines.join(""), { mode: 0o600 });
      const replicas = await startReplicas(place, REPLICA_PORTS);
      return {
        ...replicas,
        async [Symbol.asyncDispose]() {
          await replicas[Symbol.asyncDispose]();
          await postgres[Symbol.asyncDispose]();
        },
      };
    } catch (error) {
      await postgres[Symbol.asyncDispose]();
      throw error;
    }
  },
};
