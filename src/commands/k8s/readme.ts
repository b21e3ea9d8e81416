import type { ShardManifests } from "./manifests.ts";

/** The readme of an exported folder, for people who apply it and did not export it. */
export function shardReadme(options: ShardManifests, baseUrl: string): string {
  const { name, image, shards, secrets, startAtS, store, jobSet, cpuMillis, memoryMiB } = options;
  const kind = jobSet ? "jobset" : "job";
  const start =
    startAtS === undefined
      ? `kubectl create configmap ${name}-start --from-literal=startAt=$(($(date +%s) + 180))`
      : "kubectl apply -f start.yaml";
  const results =
    store === undefined
      ? `The shards leave their folders on the volume claim \`${name}-results\` (\`volume.yaml\`: many pods write to it, so its storage class must
offer ReadWriteMany). When all have ended:

\`\`\`sh
kubectl wait --for=condition=complete --timeout=1h job${jobSet ? `/${name}-shards-0` : `/${name}`}
kubectl apply -f merge.yaml
kubectl wait --for=condition=complete --timeout=10m job/${name}-merge
kubectl logs job/${name}-merge      # the JSON document of the load
\`\`\`
`
      : `Each pod copies the folder of its shard to ${store} when it has ended. Credentials come from the Secret \`${name}-store\`
(\`store-secret.example.yaml\`; \`AWS_ENDPOINT_URL\` in it names another service than AWS). When all have ended:

\`\`\`sh
aws s3 cp --recursive ${store} results
gauntlet merge results/${name}-*/shard-* --out merged
\`\`\`
`;
  return `# ${name}: ${shards} shards

Load for ${baseUrl}, exported by Gauntlet. ${shards} pods share one schedule, and begin together at a moment of the clock of ${options.timeSource ?? "the gateway"}.
No key is in this folder.

- Image: \`${image}\`. Build it from the Dockerfile of Gauntlet and push it to where the cluster pulls from.
- Each pod requests ${cpuMillis} m of processor and ${memoryMiB} MiB, calculated from the plan of the load.
- Needs Kubernetes 1.29 or newer${jobSet ? " and JobSet (jobset.x-k8s.io/v1alpha2)" : ""}.

## Run

\`\`\`sh
kubectl create secret generic ${name}-keys --from-env-file=keys.env   # lines ${secrets.map((one) => `${one}=…`).join(", ")}; or see secret.example.yaml
kubectl apply -f configmap.yaml${store === undefined ? " -f volume.yaml" : ""}
${start}
kubectl apply -f ${kind}.yaml
\`\`\`

\`startAt\` is in seconds since the epoch: leave enough time for the cluster to start ${shards} pods. A pod that comes up later joins late, and the
merged run names it and is inconclusive. Before another run, delete the ${jobSet ? "JobSet" : "Job"} and the ConfigMap \`${name}-start\`.

## Results

${results}
A Job becomes \`failed\` instead of \`complete\` if one of its pods crashed or was killed. A shard whose own verdict is fail or inconclusive does not fail its pod: the verdict of the load is that of the merged record. A pod that
was killed leaves a journal, by which the merged record names it.
`;
}
