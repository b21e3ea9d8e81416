import { type Recordable, responsesIn } from "./recording.ts";
import type { Response } from "./response.ts";

/** Scenarios of a run; each runs once, however many checks judge it. */
export class ScenarioRuns {
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #recordings = new Map<string, Recordable>();

  once<T>(name: string, scenario: () => Promise<T>): Promise<T> {
    const known = this.#running.get(name);
    if (known !== undefined) return known as Promise<T>;
    const running = scenario();
    this.#running.set(name, running);
    const note = (recording: T) => {
      if (this.#running.get(name) === running) this.#recordings.set(name, recording as Recordable);
    };
    // The caller handles a rejection.
    running.then(note, () => undefined);
    return running;
  }

  /**
   * Lets scenarios run again whose recordings contain one of these responses. Does not wait for a running one, which may wait
   * for the caller.
   */
  forgetThoseWith(responses: readonly Response[]): void {
    for (const [name, recording] of [...this.#recordings]) {
      if (!responsesIn(recording).some((response) => responses.includes(response))) continue;
      this.#recordings.delete(name);
      this.#running.delete(name);
    }
  }

  clear(): void {
    this.#running.clear();
    this.#recordings.clear();
  }
}
