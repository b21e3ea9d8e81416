import { join } from "node:path";
import type { Layout } from "../../reports/index.ts";
import { EXIT } from "../core/index.ts";
import { writeReports } from "./write-reports.ts";

/** Renders the reports of stored runs again. Judges nothing and sends nothing. */
export function report({ dirs, layout }: { readonly dirs: readonly string[]; readonly layout: Layout }): number {
  for (const dir of dirs) {
    for (const file of writeReports(dir, layout)) process.stdout.write(`${join(dir, file)}\n`);
  }
  return EXIT.pass;
}
