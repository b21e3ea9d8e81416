import { COMPAT_REQUIREMENTS } from "./compat-requirements.ts";
import { PROTOCOL_REQUIREMENTS } from "./protocol-requirements.ts";
import type { Level } from "./requirement.ts";
import { SPEC_REQUIREMENTS } from "./spec-requirements.ts";

/** Who states a requirement; `custom`: a custom suite. Layers are reported separately. */
export type Layer = "specification" | "protocol" | "compat" | "custom";

type SpecRequirement = (typeof SPEC_REQUIREMENTS)[number];
type ProtocolRequirement = (typeof PROTOCOL_REQUIREMENTS)[number];

type IdOf<R extends { id: string; level: string }, L extends string> = Extract<R, { level: L }>["id"];

/**
 * Requirements whose violation fails. An OPEN requirement is not among them, so that passing one to `must()` does not compile.
 */
export type MustRequirement = IdOf<SpecRequirement, "MUST"> | IdOf<ProtocolRequirement, "MUST">;
/** Requirements whose violation warns. A MUST is not among them, because its violation fails. */
export type ShouldRequirement = IdOf<SpecRequirement, "SHOULD" | "MAY"> | IdOf<ProtocolRequirement, "SHOULD">;
export type CompatRequirement = (typeof COMPAT_REQUIREMENTS)[number]["id"];
export type RequirementId = SpecRequirement["id"] | ProtocolRequirement["id"] | CompatRequirement;

/** A built-in requirement. */
export interface Requirement {
  readonly id: RequirementId;
  readonly layer: Exclude<Layer, "custom">;
  readonly level: Level;
  readonly binds: "gateway" | "client";
  readonly area: string;
  readonly source: string;
  readonly text: string;
}

export const REQUIREMENTS: readonly Requirement[] = [
  ...SPEC_REQUIREMENTS.map((requirement) => ({ ...requirement, layer: "specification" as const })),
  ...PROTOCOL_REQUIREMENTS.map((requirement) => ({
    ...requirement,
    layer: "protocol" as const,
    binds: "binds" in requirement ? requirement.binds : ("gateway" as const),
    area: "robustness",
  })),
  ...COMPAT_REQUIREMENTS.map((requirement) => ({
    ...requirement,
    layer: "compat" as const,
    level: "SHOULD" as const,
    binds: "gateway" as const,
    area: "compat",
  })),
];

const BY_ID: ReadonlyMap<string, Requirement> = new Map(
  REQUIREMENTS.map((requirement) => [requirement.id, requirement]),
);

export function requirementOf(id: RequirementId): Requirement {
  const requirement = BY_ID.get(id);
  if (requirement === undefined) throw new Error(`unknown requirement ${id}`);
  return requirement;
}

export function isRequirementId(id: string): id is RequirementId {
  return BY_ID.has(id);
}

/** Whether a violation fails. */
export function isMust(id: string): boolean {
  return BY_ID.get(id)?.level === "MUST";
}
