import { join } from "node:path";
import type { Gateway } from "./gateway.ts";
import { installFromPypi, missingPython } from "./litellm.ts";
import { disturbedRuns, startReplicas } from "./replicas.ts";

const REPLICA_PORTS = [9251, 9252];

/** Two processes of inferrail that share its SQLite files. */
export const inferrail: Gateway = {
  name: "inferrail",
  title: "inferrail",
  port: 9250,
  otherPorts: REPLICA_PORTS,
  onlyByName: true,
  runs: disturbedRuns("gauntlet.yaml"),
  profiles: ["chat", "messages", "models-and-auth", "streaming", "replicas", "http", "openai-sdk", "anthropic-sdk"],
  programs: (tools) => join(tools, "inferrail", "bin"),
  setUp: "before",
  cut: "connection",
  missing: missingPython,
  install: (tools) => installFromPypi(tools, "inferrail", "inferrail==0.4.16"),
  start: (place) => startReplicas(place, REPLICA_PORTS),
};
