export { type Claim, type ClaimedExchange, claimJsonSchema, claimText } from "./claim.ts";
export { composeClaim } from "./compose-claim.ts";
export { readClaim } from "./read-claim.ts";
