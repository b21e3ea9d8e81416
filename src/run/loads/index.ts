export { judgeMerged } from "./judge-merged.ts";
export { keepEvidence } from "./keep-evidence.ts";
export { type OpenShard, openShard, sharedSeed, waitForStart } from "./open-shard.ts";
export { KEY_VARIABLES, planForK6, scriptFolder } from "./plan-for-k6.ts";
export { HLOG, runLoads } from "./run-loads.ts";
export { assertShared, assertUrl, parseStart, type ShardOptions, shardRequest } from "./shard-options.ts";
