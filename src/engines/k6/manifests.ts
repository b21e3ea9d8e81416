import { stringify } from "yaml";

export interface ManifestOptions {
  /** Name of all resources; lower case, as Kubernetes requires. */
  readonly name: string;
  /** Pods that share the schedule. */
  readonly parallelism: number;
  /** Files of the ConfigMap, in one flat directory. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables that come from the Secret. */
  readonly secrets: readonly string[];
  readonly output: "opentelemetry" | "prometheus";
  readonly k6Version: string;
  /** Per pod. */
  readonly cpuMillis: number;
  readonly memoryMiB: number;
}

/** Maximum size of a ConfigMap, bytes. */
export const CONFIG_MAP_BYTES = 1_048_576;

/** Variables of the output; the operator may change their values. */
const OUTPUTS = {
  opentelemetry: {
    argument: "opentelemetry",
    environment: {
      K6_OTEL_EXPORTER_PROTOCOL: "grpc",
      K6_OTEL_GRPC_EXPORTER_ENDPOINT: "opentelemetry-collector:4317",
      K6_OTEL_GRPC_EXPORTER_INSECURE: "true",
      K6_OTEL_METRIC_PREFIX: "k6_",
    },
  },
  prometheus: {
    argument: "experimental-prometheus-rw",
    environment: {
      K6_PROMETHEUS_RW_SERVER_URL: "http://prometheus:9090/api/v1/write",
      K6_PROMETHEUS_RW_TREND_STATS: "p(50),p(90),p(99),max",
    },
  },
} as const;

/** Where the pods write their raw samples; the operator mounts a volume of their choice there. */
const RESULTS = "/results";

/** Manifests for the k6 operator, by file name. None of them contains a key. */
export function manifests(options: ManifestOptions): Readonly<Record<string, string>> {
  const { name, files, secrets } = options;
  return {
    "configmap.yaml": configMap(`${name}-scripts`, files),
    "secret.example.yaml": secretExample(`${name}-keys`, secrets),
    "testrun.yaml": stringify(testRun(options), { lineWidth: 0 }),
  };
}

export function configMap(name: string, files: Readonly<Record<string, string>>): string {
  return stringify({ apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data: { ...files } }, { lineWidth: 0 });
}

/** A Secret with every variable and no values. */
export function secretExample(name: string, variables: readonly string[]): string {
  return `# An example: put the keys in, apply it, and never commit it. Better is a Secret made by your secret store.\n${stringify(
    {
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name },
      type: "Opaque",
      stringData: Object.fromEntries(variables.map((variable) => [variable, ""])),
    },
  )}`;
}

/** A valid Kubernetes name, short enough for the suffixes that are appended. */
export function resourceName(name: string): string {
  return `gauntlet-${name
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, "-")
    .slice(0, 40)}`.replace(/-+$/, "");
}

function testRun(options: ManifestOptions): object {
  const { name, parallelism, secrets, cpuMillis, memoryMiB } = options;
  const { argument, environment } = OUTPUTS[options.output];
  const image = `grafana/k6:${options.k6Version}`;
  const own = Object.entries({ K6_NO_USAGE_REPORT: "true", ...environment }).map(([key, value]) => ({
    name: key,
    value,
  }));
  const resources = {
    requests: { cpu: `${cpuMillis}m`, memory: `${memoryMiB}Mi` },
    limits: { memory: `${memoryMiB * 2}Mi` },
  };
  return {
    apiVersion: "k6.io/v1alpha1",
    kind: "TestRun",
    metadata: { name },
    spec: {
      parallelism,
      script: { configMap: { name: `${name}-scripts`, file: "gauntlet.ts" } },
      // Raw samples in addition to the live output: only they can be merged into one record.
      arguments: `--out ${argument} --out json=${RESULTS}/$(POD_NAME).json.gz`,
      runner: {
        image,
        resources,
        env: [
          { name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } },
          ...own,
          ...secrets.map((variable) => ({
            name: variable,
            valueFrom: { secretKeyRef: { name: `${name}-keys`, key: variable } },
          })),
        ],
        volumes: [{ name: "results", persistentVolumeClaim: { claimName: `${name}-results` } }],
        volumeMounts: [{ name: "results", mountPath: RESULTS }],
      },
    },
  };
}
