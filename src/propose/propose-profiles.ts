import { PROFILE_NAMES } from "../requirements/index.ts";
import type { Target } from "../target/index.ts";
import type { ReadDenial } from "./read-proposal.ts";
import { type GatewaySample, isServed } from "./sample-gateway.ts";

/** Profiles of the SDKs that use a dialect. */
const SDKS = { chat: "openai-sdk", messages: "anthropic-sdk" } as const;
/** Denials of a key's or an account's money. */
const OF_MONEY: readonly (string | undefined)[] = ["insufficient_credits", "quota_exceeded", "budget_exhausted"];

/**
 * Profiles that a gateway may claim by what it showed. Whether it meets them is for a run to say. As a comment, because a target
 * file with profiles is judged by nothing else.
 */
export function proposeProfiles(sample: GatewaySample, target: Target, read: readonly ReadDenial[]): string[] {
  const served = sample.dialects.filter(isServed);
  const streamed = served.filter(({ stream }) => stream?.streamed === true);
  const named = new Set(
    read.filter(({ isRight, readAs }) => isRight && readAs !== undefined).map(({ readAs }) => readAs),
  );
  const shown = new Set<string>([
    ...served.map(({ dialect }) => dialect),
    ...streamed.map(({ dialect }) => SDKS[dialect]),
    ...(streamed.length > 0 ? ["streaming"] : []),
    ...(served.length > 0 ? ["http"] : []),
    ...(sample.list.status === 200 && named.has("invalid_api_key") ? ["models-and-auth"] : []),
    ...(read.length > 0 && read.every(({ isRight }) => isRight) && named.size > 1 ? ["denials"] : []),
    ...(target.limited.length > 0 ? ["limits"] : []),
    ...(OF_MONEY.every((reason) => named.has(reason)) ? ["money"] : []),
    ...(target.upstream === undefined ? [] : ["upstream"]),
    ...(target.addresses === undefined ? [] : ["replicas"]),
  ]);
  const profiles = PROFILE_NAMES.filter((name) => shown.has(name));
  if (profiles.length === 0 || target.profiles.length > 0) return [];
  return [
    "Profiles that match the observed behaviour of the gateway. Uncomment the next line to judge runs by these profiles only.",
    `profiles: [${profiles.join(", ")}]`,
  ];
}
