export { propose } from "./propose.ts";
export { withLines } from "./proposed-line.ts";
export type { ReadDenial } from "./read-proposal.ts";
export { proposalPlan } from "./sample-gateway.ts";
