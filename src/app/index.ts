export type { ConformOptions } from "./conform.ts";
export type { InitAnswers } from "./init.ts";
export type { Colors, Outcome } from "./outcome.ts";
export type { Interruption, OnProgress, ProgressEvent, RunControl, Step, SuiteProgress } from "./run-control.ts";
export { VERSION } from "./version.ts";

/** Use cases. Each is loaded on demand, so that `--help` loads none, and a load run does not load the code that judges it. */
export const useCase = {
  acceptGaps: () => import("./accept-gaps.ts"),
  baseline: () => import("./baseline.ts"),
  calibrate: () => import("./calibrate.ts"),
  capacity: () => import("./capacity.ts"),
  client: () => import("./client/client.ts"),
  compare: () => import("./compare/compare.ts"),
  conform: () => import("./conform.ts"),
  conformOnChange: () => import("./conform-on-change.ts"),
  doctor: () => import("./doctor.ts"),
  exportK8s: () => import("./k8s/export-k8s.ts"),
  exportK6: () => import("./k6/export-k6.ts"),
  gateway: () => import("./gateway.ts"),
  history: () => import("./history.ts"),
  importK6: () => import("./k6/import-k6.ts"),
  init: () => import("./init.ts"),
  limits: () => import("./limits.ts"),
  listChecks: () => import("./list-checks.ts"),
  load: () => import("./load.ts"),
  merge: () => import("./shards/merge.ts"),
  names: () => import("./names.ts"),
  overhead: () => import("./overhead.ts"),
  planFleet: () => import("./k6/plan-fleet.ts"),
  proposeFile: () => import("./propose/propose-file.ts"),
  rejudge: () => import("./rejudge.ts"),
  report: () => import("./report.ts"),
  showReport: () => import("./show-report.ts"),
  size: () => import("./size.ts"),
  upstream: () => import("./upstream.ts"),
  version: () => import("./version-document.ts"),
  waivers: () => import("./waivers.ts"),
};
