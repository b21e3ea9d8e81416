export { claimDifferences } from "./claim-differences.ts";
export { composeClaim, composeClaimText, recordDigest } from "./compose-claim.ts";
