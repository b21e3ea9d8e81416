export { CLAIM_VERSION, type Claim, type ClaimedExchange, claimJsonSchema, claimText } from "./claim.ts";
export { type ClaimChange, changesJsonSchema, changesOf } from "./claim-changes.ts";
export { byGateway } from "./claim-order.ts";
export { readClaim } from "./read-claim.ts";
export { type ClaimFile, readClaims } from "./read-claims.ts";
