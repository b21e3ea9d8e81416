/**
 * `npm run verify matrix`: the published matrix (docs/matrix). Runs all checks on each gateway with the profiles that it claims,
 * writes the claim of the run, verifies it with the record of the run, and shows all claims next to each other. The gateways are those
 * of `npm run verify gateways`, the reference gateway, and a build of it with two defects.
 *
 *     npm run build && npm run verify matrix                  all of them, about 40 minutes
 *     npm run verify matrix -- hardcap reference              these; the claims of the others stay
 *     npm run verify matrix -- --folder DIR                   keeps the installed packages and the runs
 *     npm run verify matrix -- --out DIR                      writes there instead of docs/matrix
 *     npm run verify matrix -- --only-page --folder DIR       no run: the page again, from claims and kept runs
 *     npm run verify matrix -- --overhead RUN                 with the figures of `npm run verify overhead -- --folder DIR`
 */
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import yargs from "yargs";
import { PROFILE_NAMES } from "../../../src/requirements/index.ts";
import { type Finished, MAIN } from "../../../test/support/gauntlet.ts";
import { GATEWAYS } from "./gateways.ts";
import { runGauntlet, startExample } from "./start-example.ts";

/** Runs Gauntlet where the target file of a gateway is. */
type Gauntlet = (command: readonly string[]) => Promise<Finished>;

interface Entry {
  readonly name: string;
  readonly profiles: readonly string[];
  /** The target, and its options. */
  readonly target: readonly string[];
  /** @returns why it cannot run on this machine. */
  missing(): string | undefined;
  /** Calls `use` while the gateway runs. @throws if it exits by itself */
  whileRunning(use: (gauntlet: Gauntlet) => Promise<void>): Promise<void>;
}

const DOCS = fileURLToPath(new URL("../../../docs/matrix", import.meta.url));

const args = await yargs(process.argv.slice(2))
  .option("folder", { type: "string", describe: "Keeps what is installed, and the runs" })
  .option("out", { type: "string", default: DOCS, describe: "Folder to write to" })
  .option("overhead", { type: "string", describe: "Folder of a run of gauntlet overhead" })
  .option("only-page", { type: "boolean", default: false, describe: "Runs nothing" })
  .strictOptions()
  .parseAsync();

const folder = resolve(args.folder ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-matrix-")));
const out = resolve(args.out);
const claims = join(out, "claims");
/** Folder with the records: one run for each gateway. */
const records = join(folder, "claimed");
for (const path of [records, claims]) mkdirSync(path, { recursive: true });

/** The reference gateway starts with the run. */
function embedded(name: string, ...mutations: readonly string[]): Entry {
  return {
    name,
    // It is one process.
    profiles: PROFILE_NAMES.filter((profile) => profile !== "replicas"),
    target: ["--target", "embedded", ...mutations.flatMap((mutation) => ["--mutation", mutation])],
    missing: () => undefined,
    whileRunning: (use) => use((command) => runGauntlet(command, { cwd: folder })),
  };
}

const ENTRIES: readonly Entry[] = [
  embedded("reference"),
  embedded("broken-build", "spend.empty-account-streams", "stream.cut-after-a-second"),
  ...GATEWAYS.flatMap((gateway): Entry[] => {
    const { name, profiles } = gateway;
    if (profiles === undefined) return [];
    return [
      {
        name,
        profiles,
        target: ["--target", "gauntlet.yaml"],
        missing: () => gateway.missing(),
        async whileRunning(use) {
          gateway.install(folder);
          await using started = await startExample(gateway, { folder, isParallel: false });
          await started.running.untilAllAccept?.();
          await use((command) => started.gauntlet(command));
          const ended = started.running.ended();
          if (ended !== undefined) throw new Error(`its process ended in the middle of the run: ${ended}`);
        },
      },
    ];
  }),
];

const names = args._.map(String);
const unknown = names.filter((name) => !ENTRIES.some((entry) => entry.name === name));
if (unknown.length > 0)
  throw new Error(`Unknown: ${unknown.join(", ")}. Expected ${ENTRIES.map(({ name }) => name).join(", ")}.`);
if (!existsSync(MAIN)) throw new Error("dist is missing: run npm run build.");
process.setMaxListeners(50);
// Everything that was started ends with this process, however that ends.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(130));

const startedMs = Date.now();
const problems: string[] = [];
const chosen = args.onlyPage ? [] : ENTRIES.filter(({ name }) => names.length === 0 || names.includes(name));
// Fail now, rather than after half an hour of runs.
const missing = chosen.flatMap(
  (entry) =>
    entry
      .missing()
      ?.split("\n")
      .map((line) => `  ${entry.name}: ${line}`) ?? [],
);
if (missing.length > 0)
  throw new Error(
    `Install what is missing, or pass only the names of gateways that are installed:\n${missing.join("\n")}`,
  );
for (const entry of chosen) {
  try {
    await claim(entry);
  } catch (error) {
    console.log(`FAIL ${entry.name}:`, error);
    problems.push(entry.name);
  }
}
const files = readdirSync(claims).filter((name) => name.endsWith(".json"));
const page = await runGauntlet(
  [
    ...["matrix", ...files.map((name) => join(claims, name)), "--records", records, "--out", out],
    ...(args.overhead === undefined ? [] : ["--overhead", resolve(args.overhead)]),
  ],
  { cwd: folder },
);
console.log(page.stdout + page.stderr);
if (page.code !== 0) problems.push("the matrix");
if (args.folder === undefined) rmSync(folder, { recursive: true, force: true });
const failed = problems.length === 0 ? "all claims verified" : `failed: ${problems.join(", ")}`;
console.log(`verify matrix: ${files.length} claims, ${failed}, in ${minutes()} min`);
process.exitCode = problems.length === 0 ? 0 : 1;

function minutes(): string {
  return ((Date.now() - startedMs) / 60_000).toFixed(1);
}

/** Runs one gateway, and publishes its claim if the record of the run gives the same one. */
async function claim({ name, profiles, target, whileRunning }: Entry): Promise<void> {
  const run = join(records, name);
  rmSync(run, { recursive: true, force: true });
  const options = profiles.flatMap((profile) => ["--profile", profile]);
  await whileRunning(async (gauntlet) => {
    const done = await gauntlet(["conform", ...target, ...options, "--out", run]);
    writeFileSync(join(folder, `${name}.log`), done.stdout + done.stderr);
    // 0 and 1 are verdicts, 4 is a run that could not judge everything; all others are errors.
    if (![0, 1, 4].includes(done.code ?? -1)) throw new Error(`exit code ${done.code}:\n${done.stderr.slice(-2_000)}`);
  });
  const gauntlet: Gauntlet = (command) => runGauntlet(command, { cwd: folder });
  await succeeds(gauntlet, ["report", run, "--format", "claim"]);
  const written = join(run, "claim.json");
  await succeeds(gauntlet, ["verify-claim", written, "--record", run]);
  copyFileSync(written, join(claims, `${name}.json`));
  console.log(`${name}: claim verified, after ${minutes()} min`);
}

async function succeeds(gauntlet: Gauntlet, command: readonly string[]): Promise<void> {
  const { code, stdout, stderr } = await gauntlet(command);
  if (code !== 0) throw new Error(`${command[0]} ended with ${code}:\n${stdout}${stderr}`);
}
