import type { IJob, IJobSpec } from "kubernetes-models/batch/v1";
import type { IContainer, IPersistentVolumeClaim } from "kubernetes-models/v1";
import { stringify } from "yaml";
import { configMap, secretExample } from "../../engines/index.ts";

export interface ShardManifests {
  /** Name of all resources; Kubernetes requires lower case. */
  readonly name: string;
  readonly image: string;
  readonly shards: number;
  /** Files of the ConfigMap, including `workload.yaml` and `target.yaml`. */
  readonly files: Readonly<Record<string, string>>;
  /** Variables of the target file, which come from the Secret. */
  readonly secrets: readonly string[];
  /** Written into every command line, so that all shards share it. */
  readonly seed: number;
  readonly timeSource: string | undefined;
  /** Unix epoch seconds; `undefined`: the operator sets it in the ConfigMap. */
  readonly startAtS: number | undefined;
  /** `s3://bucket/prefix`; `undefined`: a volume that many pods can write to. */
  readonly store: string | undefined;
  /** As a JobSet instead of a Job. */
  readonly jobSet: boolean;
  /** CPU request of one pod. */
  readonly cpuMillis: number;
  readonly memoryMiB: number;
}

const RESULTS = "/results";
const LOAD = "/load";
/** Time that shards need to start and to measure their clocks, s. */
const READY_S = 30;
/** A finished Job is kept for a day. */
const KEPT_S = 86_400;
const STORE_IMAGE = "amazon/aws-cli:2.17.0";
/** The user `node` of the image. */
const USER = 1_000;

/** Manifests for a load that pods share, by file name. None of them contains a key. */
export function shardManifests(options: ShardManifests): Readonly<Record<string, string>> {
  const { name, files, secrets, startAtS, store, jobSet } = options;
  const yaml = (value: object) => stringify(value, { lineWidth: 0, aliasDuplicateObjects: false });
  return {
    "configmap.yaml": configMap(`${name}-files`, files),
    ...(startAtS !== undefined && { "start.yaml": configMap(`${name}-start`, { startAt: String(startAtS) }) }),
    "secret.example.yaml": secretExample(`${name}-keys`, secrets),
    ...(store === undefined
      ? { "volume.yaml": yaml(claim(name)), "merge.yaml": yaml(mergeJob(options)) }
      : { "store-secret.example.yaml": secretExample(`${name}-store`, STORE_VARIABLES) }),
    [jobSet ? "jobset.yaml" : "job.yaml"]: yaml(jobSet ? jobSetOf(options) : jobOf(options)),
  };
}

const STORE_VARIABLES = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION"];

function claim(name: string): IPersistentVolumeClaim {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: `${name}-results` },
    spec: { accessModes: ["ReadWriteMany"], resources: { requests: { storage: "1Gi" } } },
  };
}

/** Makes one record from what the shards left on the volume; its log is the JSON document. */
function mergeJob({ name, image }: ShardManifests): IJob {
  const folder = `"${RESULTS}/${name}-$START_AT"`;
  const merge: IContainer = {
    name: "merge",
    image,
    workingDir: RESULTS,
    command: ["sh", "-c", `gauntlet merge ${folder}/shard-* --out ${folder}/merged --json\n${VERDICT_IS_NO_CRASH}`],
    env: [startVariable(name)],
    securityContext: LOCKED,
    resources: { requests: { cpu: "500m", memory: "512Mi" }, limits: { memory: "2Gi" } },
    volumeMounts: [{ name: "results", mountPath: RESULTS }],
  };
  return {
    apiVersion: "batch/v1",
    kind: "Job",
    metadata: { name: `${name}-merge` },
    spec: {
      backoffLimit: 0,
      template: {
        spec: {
          ...POD,
          containers: [merge],
          volumes: [{ name: "results", persistentVolumeClaim: { claimName: `${name}-results` } }],
        },
      },
    },
  };
}

function jobOf(options: ShardManifests): IJob {
  return { apiVersion: "batch/v1", kind: "Job", metadata: { name: options.name }, spec: jobSpec(options) };
}

function jobSetOf(options: ShardManifests): object {
  return {
    apiVersion: "jobset.x-k8s.io/v1alpha2",
    kind: "JobSet",
    metadata: { name: options.name },
    spec: {
      // A restarted shard would be too late for the others.
      failurePolicy: { maxRestarts: 0 },
      replicatedJobs: [{ name: "shards", replicas: 1, template: { spec: jobSpec(options) } }],
    },
  };
}

function jobSpec(options: ShardManifests): IJobSpec {
  const { name, shards, store } = options;
  const wait = waitContainer(options);
  const shard = shardContainer(options);
  const labels = { "app.kubernetes.io/name": "gauntlet", "app.kubernetes.io/instance": name };
  return {
    completionMode: "Indexed",
    completions: shards,
    parallelism: shards,
    // A failed shard must not end the others, and a restarted one would be too late.
    backoffLimitPerIndex: 0,
    maxFailedIndexes: shards,
    ttlSecondsAfterFinished: KEPT_S,
    template: {
      metadata: { labels },
      spec: {
        ...POD,
        // Shards on one node share its CPUs and ports.
        topologySpreadConstraints: [
          {
            maxSkew: 1,
            topologyKey: "kubernetes.io/hostname",
            whenUnsatisfiable: "ScheduleAnyway",
            labelSelector: { matchLabels: labels },
          },
        ],
        initContainers: store === undefined ? [wait] : [wait, shard],
        containers: store === undefined ? [shard] : [storeContainer(name, store)],
        volumes: [
          { name: "files", configMap: { name: `${name}-files` } },
          store === undefined
            ? { name: "results", persistentVolumeClaim: { claimName: `${name}-results` } }
            : { name: "results", emptyDir: {} },
        ],
      },
    },
  };
}

/** A failed gateway, or a run without a verdict, is not a failed pod. */
const VERDICT_IS_NO_CRASH = "code=$?\ncase $code in 0|1|4) exit 0 ;; *) exit $code ;; esac";

const POD = {
  restartPolicy: "Never" as const,
  automountServiceAccountToken: false,
  enableServiceLinks: false,
  securityContext: {
    ...{ runAsNonRoot: true, runAsUser: USER, runAsGroup: USER, fsGroup: USER },
    seccompProfile: { type: "RuntimeDefault" as const },
  },
};

const LOCKED = {
  allowPrivilegeEscalation: false,
  readOnlyRootFilesystem: true,
  capabilities: { drop: ["ALL"] },
};

const startVariable = (name: string) => ({
  name: "START_AT",
  valueFrom: { configMapKeyRef: { name: `${name}-start`, key: "startAt" } },
});

/** Holds the pod until shortly before the start, so that all pods are scheduled and have pulled their image by then. */
function waitContainer({ name, image }: ShardManifests): IContainer {
  const script = `while [ "$(date +%s)" -lt "$((START_AT - ${READY_S}))" ]; do sleep 1; done`;
  return {
    name: "wait-for-start",
    image,
    command: ["sh", "-c", script],
    env: [startVariable(name)],
    securityContext: LOCKED,
    resources: { requests: { cpu: "10m", memory: "16Mi" }, limits: { memory: "64Mi" } },
  };
}

/** Sends one share, given by the pod's index in the Job. */
function shardContainer(options: ShardManifests): IContainer {
  const { name, image, secrets, shards, seed, timeSource, cpuMillis, memoryMiB } = options;
  const source = timeSource === undefined ? "" : ` --time-source '${timeSource.replaceAll("'", "%27")}'`;
  const index = "$((JOB_COMPLETION_INDEX + 1))";
  const script = `gauntlet load ${LOAD}/workload.yaml --target ${LOAD}/target.yaml --seed ${seed} --shard "${index}/${shards}" --start-at "$START_AT"${source} --out "${RESULTS}/${name}-$START_AT/shard-${index}"
${VERDICT_IS_NO_CRASH}`;
  return {
    name: "shard",
    image,
    command: ["sh", "-c", script],
    workingDir: RESULTS,
    env: [
      startVariable(name),
      ...secrets.map((variable) => ({
        name: variable,
        valueFrom: { secretKeyRef: { name: `${name}-keys`, key: variable } },
      })),
    ],
    securityContext: LOCKED,
    resources: {
      requests: { cpu: `${cpuMillis}m`, memory: `${memoryMiB}Mi` },
      limits: { memory: `${memoryMiB * 2}Mi` },
    },
    volumeMounts: [
      { name: "files", mountPath: LOAD, readOnly: true },
      { name: "results", mountPath: RESULTS },
    ],
  };
}

/** Copies the shard's folder when the shard has ended. */
function storeContainer(name: string, store: string): IContainer {
  return {
    name: "store",
    image: STORE_IMAGE,
    args: ["s3", "cp", "--recursive", RESULTS, store],
    env: [{ name: "HOME", value: RESULTS }],
    envFrom: [{ secretRef: { name: `${name}-store` } }],
    securityContext: LOCKED,
    resources: { requests: { cpu: "50m", memory: "64Mi" }, limits: { memory: "512Mi" } },
    volumeMounts: [{ name: "results", mountPath: RESULTS }],
  };
}
