export { claimDifferences } from "./claim-differences.ts";
export { composeClaim, recordDigest } from "./compose-claim.ts";
