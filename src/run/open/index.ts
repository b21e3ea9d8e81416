export { accountByName } from "./account-by-name.ts";
export { findWorkload, SHIPPED_WORKLOADS } from "./find-workload.ts";
export { lastFailed, latestReport } from "./latest-run.ts";
export { openFolder } from "./open-folder.ts";
export {
  defaultFolder,
  mainFile,
  type OpenTarget,
  openTarget,
  type TargetOptions,
  targetFileOf,
} from "./open-target.ts";
export { isFolder, runFolders } from "./run-folders.ts";
export { type Build, startBuild } from "./start-build.ts";
