/** What a generator costs on the machine where this was measured. */
export interface GeneratorCost {
  /** CPU time per non-streaming reply, s. */
  readonly cpuPerRequestS: number;
  /** CPU time per second of an open stream, s. */
  readonly cpuPerHeldS: number;
  /** Memory per open connection, bytes: a virtual user of k6, a stream of the native engine. */
  readonly bytesPerHeld: number;
  /** Memory of an instance without connections, bytes. */
  readonly baseBytes: number;
}

export interface InstanceSize {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface Fleet {
  readonly instances: number;
  /** Which bound determines the number. */
  readonly binding: "processor" | "memory" | "connections";
  readonly perInstance: {
    readonly ratePerS: number;
    readonly inFlight: number;
    readonly cpuShare: number;
    readonly memoryBytes: number;
  };
  /** Instances that each bound alone would require. */
  readonly needs: { readonly processor: number; readonly memory: number; readonly connections: number };
}

/** A generator that uses more of its CPU sends late; one that uses more of its memory is killed. */
const CPU_SHARE = 0.6;
const MEMORY_SHARE = 0.7;
/** Connections between two addresses: Linux's ephemeral ports, 32,768 to 60,999, minus a small reserve. */
const CONNECTIONS = 28_000;

/**
 * How many instances a load needs. Each bound is evaluated separately, and the largest number counts.
 *
 * @param ratePerS requests per second. @param inFlight maximum number of requests in flight.
 */
export function sizeFleet(ratePerS: number, inFlight: number, cost: GeneratorCost, size: InstanceSize): Fleet {
  const cpu = ratePerS * cost.cpuPerRequestS + inFlight * cost.cpuPerHeldS;
  const room = size.memoryBytes * MEMORY_SHARE - cost.baseBytes;
  const needs = {
    processor: Math.max(1, Math.ceil(cpu / (size.cores * CPU_SHARE))),
    memory: room <= 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.ceil((inFlight * cost.bytesPerHeld) / room)),
    connections: Math.max(1, Math.ceil(inFlight / CONNECTIONS)),
  };
  const instances = Math.max(needs.processor, needs.memory, needs.connections);
  const binding = instances === needs.processor ? "processor" : instances === needs.memory ? "memory" : "connections";
  return {
    instances,
    binding,
    needs,
    perInstance: {
      ratePerS: ratePerS / instances,
      inFlight: Math.ceil(inFlight / instances),
      cpuShare: cpu / instances / size.cores,
      memoryBytes: cost.baseBytes + Math.ceil(inFlight / instances) * cost.bytesPerHeld,
    },
  };
}

/** What each of this many instances needs, with the same CPU and memory shares as `sizeFleet`. */
export function sizeInstance(ratePerS: number, inFlight: number, instances: number, cost: GeneratorCost): InstanceSize {
  const cpu = (ratePerS * cost.cpuPerRequestS + inFlight * cost.cpuPerHeldS) / instances;
  const memory = cost.baseBytes + Math.ceil(inFlight / instances) * cost.bytesPerHeld;
  return { cores: cpu / CPU_SHARE, memoryBytes: memory / MEMORY_SHARE };
}
