/** What a generator costs on the machine where it was measured. */
export interface GeneratorCost {
  /** Processor time of a non-streaming reply, s. */
  readonly cpuPerRequestS: number;
  /** Processor time of a stream that is held for a second, s. */
  readonly cpuPerHeldS: number;
  /** Memory of what holds a connection, bytes: a virtual user of k6, a stream of the native engine. */
  readonly bytesPerHeld: number;
  /** Memory of an instance before any, bytes. */
  readonly baseBytes: number;
}

export interface InstanceSize {
  readonly cores: number;
  readonly memoryBytes: number;
}

export interface Fleet {
  readonly instances: number;
  /** What decides the number. */
  readonly binding: "processor" | "memory" | "connections";
  readonly perInstance: {
    readonly ratePerS: number;
    readonly inFlight: number;
    readonly cpuShare: number;
    readonly memoryBytes: number;
  };
  /** Instances that each bound alone would need. */
  readonly needs: { readonly processor: number; readonly memory: number; readonly connections: number };
}

/** A generator that uses more of its cores sends late; of its memory, and it is killed. */
const CPU_SHARE = 0.6;
const MEMORY_SHARE = 0.7;
/** Connections from one address to one other: the ephemeral ports of Linux, 32,768 to 60,999, with some left. */
const CONNECTIONS = 28_000;

/**
 * How many instances a load needs. Every bound is met by itself, and the largest number counts.
 *
 * @param ratePerS requests per second. @param inFlight most requests in flight at once.
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

/** What each of so many instances needs: by the same shares of processor and memory as `sizeFleet`. */
export function sizeInstance(ratePerS: number, inFlight: number, instances: number, cost: GeneratorCost): InstanceSize {
  const cpu = (ratePerS * cost.cpuPerRequestS + inFlight * cost.cpuPerHeldS) / instances;
  const memory = cost.baseBytes + Math.ceil(inFlight / instances) * cost.bytesPerHeld;
  return { cores: cpu / CPU_SHARE, memoryBytes: memory / MEMORY_SHARE };
}
