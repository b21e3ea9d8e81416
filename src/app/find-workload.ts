import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { loadWorkload, type Workload } from "../load/index.ts";

/** A workload by the name of a shipped one, or by its path. */
export function findWorkload(name: string): Workload {
  const shipped = /^[a-z]+$/.test(name) ? shippedWorkload(name) : undefined;
  return loadWorkload(shipped ?? name);
}

/** The folder of shipped workloads stands at another height above the source than above the build. */
function shippedWorkload(name: string): string | undefined {
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, "../../suites/throughput"), join(here, "../../../suites/throughput")]
    .map((folder) => join(folder, `${name}.yaml`))
    .find((path) => existsSync(path));
}
