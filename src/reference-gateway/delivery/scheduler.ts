/** A scheduled action. Reused by callers that reschedule it, so that a long stream needs only one. */
export interface Task {
  /** On the clock of `performance.now()`, milliseconds. */
  dueMs: number;
  readonly run: () => void;
  /** True from `schedule` until the task runs or is cancelled. */
  waiting: boolean;
}

/**
 * One timer for all waiting tasks. Five thousand streams with a timer each would spend their time in the timer lists; here they
 * share a heap, and tasks that are due together run in one turn.
 */
export class Scheduler {
  /** Binary heap, earliest first. Cancelled tasks stay until their due time. */
  readonly #heap: Task[] = [];
  #timer: NodeJS.Timeout | undefined;
  #armedForMs = Number.POSITIVE_INFINITY;

  /** @param task must not be waiting. */
  schedule(task: Task, dueMs: number): void {
    // A cancelled task may still be in the heap with its old time, which only causes a spurious wake-up.
    task.dueMs = dueMs;
    task.waiting = true;
    this.#push(task);
    if (dueMs < this.#armedForMs) this.#arm(dueMs);
  }

  cancel(task: Task): void {
    task.waiting = false;
  }

  /** Drops all waiting tasks. */
  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#armedForMs = Number.POSITIVE_INFINITY;
    this.#heap.length = 0;
  }

  #arm(dueMs: number): void {
    clearTimeout(this.#timer);
    this.#armedForMs = dueMs;
    this.#timer = setTimeout(this.#wake, Math.max(0, Math.ceil(dueMs - performance.now())));
  }

  readonly #wake = () => {
    this.#armedForMs = Number.POSITIVE_INFINITY;
    // Half a millisecond early is closer than the next timer tick.
    const nowMs = performance.now() + 0.5;
    for (let next = this.#heap[0]; next !== undefined && next.dueMs <= nowMs; next = this.#heap[0]) {
      this.#pop();
      if (!next.waiting) continue;
      next.waiting = false;
      next.run();
    }
    const first = this.#heap[0];
    if (first !== undefined && first.dueMs < this.#armedForMs) this.#arm(first.dueMs);
  };

  #push(task: Task): void {
    const heap = this.#heap;
    let at = heap.length;
    heap.push(task);
    while (at > 0) {
      const parent = (at - 1) >> 1;
      if ((heap[parent] as Task).dueMs <= task.dueMs) break;
      heap[at] = heap[parent] as Task;
      at = parent;
    }
    heap[at] = task;
  }

  #pop(): void {
    const heap = this.#heap;
    const last = heap.pop();
    if (last === undefined || heap.length === 0) return;
    let at = 0;
    for (;;) {
      let child = at * 2 + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && (heap[child + 1] as Task).dueMs < (heap[child] as Task).dueMs) child += 1;
      if ((heap[child] as Task).dueMs >= last.dueMs) break;
      heap[at] = heap[child] as Task;
      at = child;
    }
    heap[at] = last;
  }
}
