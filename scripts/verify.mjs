// `npm run verify`: lists the verifications that take too long for `npm test` or need other programs. `npm run verify NAME -- …`
// runs one; the arguments after `--` are its own.
import { join } from "node:path";
import { root, runChild } from "./make-ready.mjs";

const script = (path) => ["--import", "tsx", join(root, "scripts", "verify", path)];
const tool = (path, ...args) => [join(root, "node_modules", path), ...args];

/** By name: what Node runs, and what it verifies. */
const VERIFICATIONS = {
  adversary: [script("adversary.ts"), "that no hostile gateway can crash or deceive a run, and that no key leaks"],
  clients: [script("clients.ts"), "the behaviour of two vendors' SDKs"],
  compare: [script("compare.ts"), "comparisons of the reference gateway with itself and with builds that differ"],
  disturbance: [
    script("disturbance/disturbance.ts"),
    "that the shipped workloads with events pass on two replicas of the reference gateway, and fail with the mutation that each detects",
  ],
  disturbed: [script("disturbed.ts"), "that a busy or stalled machine never makes a conformant gateway fail"],
  gateways: [script("gateways.ts"), "the findings on LiteLLM and Portkey, against examples/*/expected.yaml"],
  intervals: [
    script("intervals.ts"),
    "that 95 % intervals contain the true value, that steady state is detected, and `load --until`",
  ],
  judges: [
    tool("@stryker-mutator/core/bin/stryker.js", "run"),
    "that the tests detect changes of the code that reads and judges responses",
  ],
  k6: [script("k6.ts"), "load runs with k6 (K6_PATH: its program)"],
  limits: [script("limits.ts"), "what `gauntlet limits` infers about every limiter of the reference gateway"],
  load: [script("load/load-matrix.ts"), "load runs on the mutations and variants of the reference gateway"],
  long: [
    tool("vitest/vitest.mjs", "run", "--config", "scripts/verify/vitest/vitest.long.config.ts"),
    "the tests that take minutes each, which `npm test` omits",
  ],
  matrix: [script("gateways/matrix.ts"), "the claims of all gateways with their records, and writes docs/matrix"],
  mutations: [
    script("mutations.ts"),
    "the verdicts of all checks on the mutations and variants of the reference gateway",
  ],
  nodes: [script("nodes.ts"), "the tests on every Node that the package supports (--share 4: a quarter on each)"],
  oracles: [script("oracles.ts"), "the reference gateway, by three programs of other projects"],
  overhead: [script("overhead.ts"), "the overhead of gateways, and the suite `upstream` behind them"],
  "overhead-truth": [
    script("overhead/truth.ts"),
    "the accuracy of `gauntlet overhead`, on servers with an exact delay",
  ],
  quick: [script("quick.ts"), "how much a quick run finds"],
  quickstart: [script("quickstart.ts"), "the README's commands for a new user, with the packed package"],
  replies: [script("replies.ts"), "that 2xx replies that no client could use fail every command that sends load"],
  shards: [script("shards.ts"), "that shards send the same load as one process"],
  slow: [
    tool("vitest/vitest.mjs", "run", "--config", "scripts/verify/vitest/vitest.slow.config.ts"),
    "the end-to-end tests that `npm test` skips",
  ],
  start: [script("quickstart/start-times.ts"), "how long `npm start` takes (on an idle machine)"],
};

const [name, ...args] = process.argv.slice(2);
if (name === undefined) {
  const width = Math.max(...Object.keys(VERIFICATIONS).map((one) => one.length));
  const lines = Object.entries(VERIFICATIONS).map(([one, [, what]]) => `  ${one.padEnd(width)}  ${what}\n`);
  process.stdout.write(
    `Run "npm run build", then "npm run verify NAME" (options after --). Each verifies:\n\n${lines.join("")}`,
  );
} else if (Object.hasOwn(VERIFICATIONS, name)) {
  process.chdir(root);
  await runChild(process.execPath, [...VERIFICATIONS[name][0], ...args]);
} else {
  process.stderr.write(`there is no verification "${name}". \`npm run verify\` lists them.\n`);
  process.exitCode = 2;
}
