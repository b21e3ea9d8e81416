import { join } from "node:path";
import type { Gateway } from "./gateway.ts";
import { installFromPypi, missingPython } from "./litellm.ts";
import { disturbedRuns, missingRedis, startReplicas } from "./replicas.ts";

const PACKAGE = "hardcap==0.1.0";
const REPLICA_PORTS = [9231, 9232, 9233];
const REDIS_PORT = 9239;

const programs = (tools: string) => join(tools, "hardcap", "bin");

export const hardcap: Gateway = {
  name: "hardcap",
  title: "hardcap",
  port: 9230,
  otherPorts: [...REPLICA_PORTS, REDIS_PORT],
  onlyByName: true,
  runs: disturbedRuns("gauntlet.yaml"),
  profiles: ["chat", "models-and-auth", "denials", "limits", "money", "streaming", "replicas", "http", "openai-sdk"],
  programs,
  setUp: "before",
  cut: "connection",
  missing: () => missingPython() ?? missingRedis(),
  install: (tools) => installFromPypi(tools, "hardcap", PACKAGE),
  start: (place) => startReplicas(place, REPLICA_PORTS),
};

/** The same, but it counts tokens when a response has ended. */
export const hardcapPosthoc: Gateway = {
  ...hardcap,
  name: "hardcap-posthoc",
  title: "hardcap, posthoc",
  example: {
    name: "hardcap",
    edit: (path, text) => (path === "config.yaml" ? text.replace("accounting: reserve", "accounting: posthoc") : text),
  },
  expected: "expected-posthoc.yaml",
  profiles: undefined,
};
