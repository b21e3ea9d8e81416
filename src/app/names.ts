import { CHECKS } from "../../suites/index.ts";
import { SCENARIOS } from "../client-conformance/index.ts";

/** Names for shell completion. */
export const checkIds = (): string[] => CHECKS.map(({ id }) => id);
export const suiteNames = (): string[] => [...new Set(CHECKS.map(({ id }) => id.slice(0, id.indexOf("."))))];
export const scenarioNames = (): string[] => SCENARIOS.map(({ name }) => name);
