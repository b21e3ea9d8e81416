import { K6_VERSION } from "../../engines/index.ts";
import type { LoadPlan } from "../../load/index.ts";
import type { Target } from "../../target/index.ts";

export interface ReadmeOptions {
  readonly name: string;
  readonly workload: string;
  readonly target: Target;
  readonly secrets: readonly string[];
  readonly instances: number;
  readonly plan: LoadPlan;
}

/** The readme of an exported folder: its recipients may not have Gauntlet. */
export function exportReadme({ name, workload, target, secrets, instances, plan }: ReadmeOptions): string {
  const seconds = Math.ceil(Math.max(...plan.phases.map(({ endMs }) => endMs)) / 1_000);
  const shares = Array.from({ length: instances + 1 }, (_, index) =>
    index === 0 ? "0" : index === instances ? "1" : `${index}/${instances}`,
  );
  const remarks = plan.remarks.map((remark) => `\nNote: ${remark}.\n`).join("");
  return `# ${workload} for k6

Load for ${target.baseUrl}, about ${seconds} s, exported by Gauntlet. Runs with k6 ${K6_VERSION} (\`go install
go.k6.io/k6@v${K6_VERSION}\`) and needs nothing else. \`plan.json\` holds what is sent and when; no key is in this folder.
${remarks}
## One machine

\`\`\`sh
read -rs GAUNTLET_KEY && export GAUNTLET_KEY     # the same for ${secrets.slice(1).join(", ") || "further keys, where the plan has them"}
k6 run --no-usage-report --out json=k6-1.json gauntlet.ts
\`\`\`

\`GAUNTLET_BASE_URL\` replaces the address of the plan. \`k6 archive --archive-out archive.tar gauntlet.ts\` makes an archive, and
\`k6 run archive.tar\` runs it. The exit code is 99 when a threshold is crossed.

## Several machines

Each gets a share; together they send exactly what one would. Start them together (within a second).

\`\`\`sh
${shares
  .slice(0, -1)
  .map(
    (from, index) =>
      `k6 run --no-usage-report --execution-segment ${from}:${shares[index + 1]} --execution-segment-sequence ${shares.join(",")} --out json=k6-${index + 1}.json gauntlet.ts`,
  )
  .join("\n")}
\`\`\`

## Kubernetes, with the k6 operator

\`\`\`sh
kubectl create secret generic ${name}-keys --from-env-file=keys.env    # lines ${secrets.map((one) => `${one}=…`).join(", ")}; or see secret.example.yaml
kubectl apply -f kubernetes/configmap.yaml -f kubernetes/testrun.yaml
\`\`\`

The pods write raw samples to a volume claim \`${name}-results\` that many pods can write to; make one that your cluster offers.
Addresses of the live output (\`K6_OTEL_…\` or \`K6_PROMETHEUS_…\`) belong in \`testrun.yaml\`.

## One record

\`gauntlet k6 import --plan plan.json FILE…\` makes one run record of the raw samples of all instances, with the clocks of the
machines set against the gateway's, judged like a run of Gauntlet's own engine. k6 reads complete responses: first
tokens and gaps between tokens are not in it.
`;
}
