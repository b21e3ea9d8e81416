import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Claim, claimText } from "../../src/claims/index.ts";
import { PROFILES, profileHash } from "../../src/requirements/index.ts";
import { composeClaim } from "../../src/run/claims/index.ts";
import { gauntlet } from "./gauntlet.ts";

type Json = Record<string, unknown>;

/** A build without uncommitted changes: the tests run while the sources change. */
export const CLEAN = { name: "gateway-gauntlet", version: "0.1.0", commit: "a".repeat(40), dirty: false };

/** Runs what the profiles chat and streaming need, and the checks of keys, against the embedded gateway. */
export async function runForClaims(dir: string, mutations: readonly string[] = []): Promise<void> {
  const profiles = ["--profile", "chat", "--profile", "streaming"];
  const args = ["conform", "service", "auth", "chat", "streaming", "--target", "embedded", ...profiles, "--out", dir];
  const { code, stderr } = await gauntlet([...args, ...mutations.flatMap((name) => ["--mutation", name])]);
  if (code !== 0 && code !== 1) throw new Error(`exit code ${code}: ${stderr}`);
}

export interface StatedBuild {
  readonly name: string;
  /** `null`: the target file states neither version nor start command. */
  readonly version: string | null;
  readonly startedAt: string;
  readonly harness?: object;
}

/**
 * A copy of a run, as a target file with another gateway would have given it, and its claim next to it.
 *
 * @param to folder of the copy; its name becomes the id of the run.
 */
export function claimOf(run: string, to: string, { name, version, startedAt, harness = CLEAN }: StatedBuild): Claim {
  cpSync(run, to, { recursive: true });
  const path = join(to, "run.json");
  const record = JSON.parse(readFileSync(path, "utf8")) as Json;
  const stated = version === null ? {} : { gateway: { version, startedWith: `run ${name}:${version}` } };
  const value = { ...declaring((record["claimed"] as { declared: string[] }).declared), ...stated };
  const target = { ...(record["target"] as Json), name, source: "gauntlet.yaml" };
  const configuration = { ...(record["configuration"] as Json), value };
  const runId = to.replaceAll(/[^\w]+/g, "-").slice(-24);
  writeFileSync(path, JSON.stringify({ ...record, runId, startedAt, harness, target, configuration }));
  const claim = composeClaim(to);
  writeFileSync(join(to, "claim.json"), claimText(claim));
  return claim;
}

/** A claim of which every profile is conformant, for a target that declares no optional part. */
export function conformantClaim(overrides: Partial<Claim> = {}): Claim {
  const sha256 = "a".repeat(64);
  return {
    schemaVersion: 1,
    kind: "gauntlet-claim",
    gateway: { name: "alpha", version: "1.0", startedWith: "run alpha", server: null },
    harness: CLEAN,
    requirementSet: { version: "1", sha256 },
    run: {
      id: "r1",
      startedAt: "2026-11-10T12:00:00.000Z",
      endedAt: "2026-11-10T12:01:00.000Z",
      complete: true,
      qualifiers: [],
    },
    contract: null,
    reading: { reasonHeader: "X-Reason", actionHeader: "X-Action" },
    declared: [],
    waivers: [],
    limitations: [],
    profiles: PROFILES.map((profile) => ({
      name: profile.name,
      version: profile.version,
      sha256: profileHash(profile),
      claimed: true,
      result: "conformant",
      causes: 0,
      requirements: profile.requirements.map(({ id, level, part }) =>
        part === undefined
          ? { id, level, result: "met", checks: ["suite.check"], met: 1 }
          : { id, level, result: "not-applicable", checks: [], met: 0 },
      ),
    })),
    exchanges: [],
    record: { sha256, files: [] },
    reproduce: "gauntlet conform",
    ...overrides,
  };
}

/** The same with other requirements of one profile. */
export function withRequirements(
  claim: Claim,
  profile: string,
  change: (requirement: Claim["profiles"][number]["requirements"][number]) => object,
): Claim {
  return {
    ...claim,
    profiles: claim.profiles.map((one) =>
      one.name === profile
        ? { ...one, requirements: one.requirements.map((requirement) => ({ ...requirement, ...change(requirement) })) }
        : one,
    ),
  };
}

/** A part of a target file that declares optional parts. */
export function declaring(parts: readonly string[]): Json {
  const has = (part: string) => parts.includes(part);
  const model = (role: string) => {
    const dialects = ["chat", "messages"].filter((dialect) => has(`models.${dialect}.${role}`));
    return { [role]: Object.fromEntries(dialects.map((dialect) => [dialect, `${role}-model`])) };
  };
  return {
    ...(has("dialects.both") ? {} : { dialects: ["chat"] }),
    ...(has("ledger") ? { ledger: has("ledger.prices") ? { prices: { m: { inputPerMillion: 1 } } } : {} } : {}),
    models: { ...model("images"), ...model("structured") },
    ...(has("tiers") ? { tiers: { starter: { key: "env:K" } } } : {}),
    ...(has("tokenLimits") ? { tokenLimits: { key: "env:K" } } : {}),
    ...(parts.some((part) => part.startsWith("upstream."))
      ? {
          upstream: {
            attempts: has("upstream.attempts") ? 2 : undefined,
            failover: has("upstream.failover") ? ["a", "b"] : [],
          },
        }
      : {}),
  };
}
