/**
 * `npm run verify oracles`: three conformance programs of other projects, from PyPI, judge the reference gateway. Everything they
 * report must be a pass, or an exception with a reason below.
 *
 *     npm run verify oracles -- FOLDER      installs them in FOLDER, and uses those that are there
 */
import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startGauntlet } from "../../test/support/gauntlet.ts";

const PACKAGES = ["canitoolcall==0.1.1", "trustedrouter-provider-check==0.1.8", "relaycheck==0.1.9"];
const LIMIT_MS = 300_000;

interface Fact {
  readonly what: string;
  readonly isPass: boolean;
  readonly detail: string;
}

interface Oracle {
  readonly program: string;
  readonly args: (baseUrl: string, out: string) => readonly string[];
  /** The environment variable that takes the key. */
  readonly keyVariable: string;
  /** What its report, JSON in the file `out` or below it, says. */
  readonly report: (out: string) => string;
  readonly facts: (report: never) => readonly Fact[];
  /** What may differ from a pass: with which result, and why. */
  readonly exceptions: Readonly<Record<string, { readonly result: string; readonly why: string }>>;
}

const TOOL_CALLS: Oracle = {
  program: "canitoolcall",
  args: (baseUrl, out) => ["probe", "--base-url", baseUrl, "--model", "tool-caller", "--json", out],
  keyVariable: "CANITOOLCALL_API_KEY",
  report: (out) => out,
  facts: ({ outcomes }: { outcomes: readonly Readonly<Record<string, string | boolean>>[] }) =>
    outcomes.map(({ scenario_id, check, stream, status, detail }) => ({
      what: `${scenario_id}, ${check}, ${stream === true ? "streaming" : "non-streaming"}`,
      isPass: status === "pass",
      detail: String(detail),
    })),
  exceptions: {},
};

const PROVIDER: Oracle = {
  program: "trustedrouter-provider-check",
  args: (baseUrl, out) => ["--base-url", baseUrl, "--model", "tool-caller", "--tier", "5", "--json", out],
  keyVariable: "TR_PROVIDER_API_KEY",
  report: (out) => out,
  facts: ({ checks }: { checks: readonly { id: string; status: string; measured: unknown }[] }) =>
    checks.map(({ id, status, measured }) => ({
      what: id,
      isPass: status === "pass",
      detail: `${status}: ${JSON.stringify(measured)}`,
    })),
  exceptions: {
    "catalog.declared-v2": {
      result: "skip",
      why: "the catalog of that marketplace, which this gateway does not publish",
    },
    "callability.advertised-models": {
      result: "warn",
      why: "the models fail-*, drop-midstream and the like fail on purpose",
    },
  },
};

const RELAY: Oracle = {
  program: "relaycheck",
  args: (baseUrl, out) => [
    ...["--base-url", baseUrl, "--models", "echo-fast,shout-fast", "--out-dir", out],
    ...["--delay", "0", "--probes", "all", "--fail-on", "none"],
  ],
  keyVariable: "RELAYCHECK_API_KEY",
  report: (out) => join(out, "report.json"),
  facts: ({ findings }: { findings: readonly { id: string; severity: string; summary: string }[] }) =>
    findings.map(({ id, severity, summary }) => ({
      what: id,
      isPass: severity === "clean" || severity === "info",
      detail: `${severity}: ${summary}`,
    })),
  exceptions: {
    "params-100": {
      result: "medium",
      why: "echo-fast and shout-fast repeat the prompt: no other parameter has an effect on them",
    },
  },
};

const [given] = process.argv.slice(2);
const folder = given ?? mkdtempSync(join(tmpdir(), "gauntlet-verify-oracles-"));
const bin = (program: string) => join(folder, "py", "bin", program);

function install(): void {
  mkdirSync(folder, { recursive: true });
  const run = (program: string, ...args: string[]) => {
    const { status } = spawnSync(program, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    if (status !== 0) throw new Error(`${program} ${args.join(" ")} ended with ${status}`);
  };
  if (!existsSync(bin("python"))) run("python3", "-m", "venv", "py");
  run(bin("python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", ...PACKAGES);
}

/** A program that reports nothing has judged nothing: that counts as wrong. */
function factsOf({ program, args, keyVariable, report, facts }: Oracle, baseUrl: string, key: string): readonly Fact[] {
  const out = join(mkdtempSync(join(folder, "out-")), "report");
  const ended = spawnSync(bin(program), [...args(baseUrl, out)], {
    env: { ...process.env, [keyVariable]: key },
    encoding: "utf8",
    timeout: LIMIT_MS,
  });
  const file = report(out);
  const found = existsSync(file) ? facts(JSON.parse(readFileSync(file, "utf8")) as never) : [];
  if (found.length > 0) return found;
  return [{ what: "no report", isPass: false, detail: `exit code ${ended.status}: ${ended.stderr.slice(-300)}` }];
}

install();
await using running = startGauntlet(["gateway", "--limits", "60000:1000"]);
const text = await running.printed(/\{"event":"ready".*\}\n/s);
const ready = JSON.parse(text.slice(text.indexOf("{"), text.indexOf("\n", text.indexOf("{"))));
let wrong = 0;
for (const oracle of [TOOL_CALLS, PROVIDER, RELAY]) {
  const facts = factsOf(oracle, ready.baseUrl, ready.keys.valid);
  const others = facts.filter(({ isPass }) => !isPass);
  console.log(`${oracle.program}: ${facts.length - others.length} of ${facts.length} pass`);
  for (const { what, detail } of others) {
    const exception = oracle.exceptions[what];
    const isExpected = exception !== undefined && detail.startsWith(`${exception.result}: `);
    if (!isExpected) wrong++;
    console.log(`  ${what}: ${isExpected ? `exception: ${exception.why}` : `WRONG: ${detail.slice(0, 300)}`}`);
  }
}
console.log(wrong === 0 ? "oracles: all as they should be" : `oracles: ${wrong} not as they should be`);
process.exitCode = wrong === 0 ? 0 : 1;
