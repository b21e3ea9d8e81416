// Part of `npm run lint`: a folder has no more files of TypeScript than a reader can survey.
import { readdirSync } from "node:fs";
import { dirname, join } from "node:path/posix";
import { fileURLToPath } from "node:url";

const MAX_FILES = 16;
const root = fileURLToPath(new URL("..", import.meta.url));

const counts = new Map<string, number>();
for (const folder of ["src", "suites", "reports", "scripts"]) {
  for (const path of readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(path)) continue;
    const parent = dirname(join(folder, path.replaceAll("\\", "/")));
    counts.set(parent, (counts.get(parent) ?? 0) + 1);
  }
}
const large = [...counts].filter(([, count]) => count > MAX_FILES);
for (const [folder, count] of large)
  console.error(
    `${folder} has ${count} files; a folder has at most ${MAX_FILES}. Divide it by subject, or merge files.`,
  );
if (large.length > 0) process.exitCode = 1;
