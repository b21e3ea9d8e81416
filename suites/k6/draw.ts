import type { Group, PlannedRequest } from "./plan.ts";

/** A uniform number from 0 to below 1 that depends only on the seed and the ordinal: every instance draws the same. */
export function chance(seed: number, index: number): number {
  let mixed = (seed ^ Math.imul(index + 1, 0x9e3779b1)) >>> 0;
  mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
  mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
  return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
}

/** The request that the n-th arrival of a group sends. */
export function requestOf(
  { requests, draw }: Pick<Group, "requests" | "draw">,
  index: number,
  seed: number,
): PlannedRequest {
  if (draw === "turns") return requests[index % requests.length] as PlannedRequest;
  let at = chance(seed, index) * requests.reduce((sum, { weight }) => sum + weight, 0);
  for (const request of requests) {
    at -= request.weight;
    if (at < 0) return request;
  }
  return requests[requests.length - 1] as PlannedRequest;
}
