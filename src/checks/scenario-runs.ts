import { answersIn, type Recordable } from "./recording.ts";
import type { Response } from "./response.ts";

/** Scenarios of a run, each of which runs once, however many checks judge it. */
export class ScenarioRuns {
  readonly #running = new Map<string, Promise<unknown>>();

  once<T>(name: string, scenario: () => Promise<T>): Promise<T> {
    const known = this.#running.get(name);
    if (known !== undefined) return known as Promise<T>;
    const running = scenario();
    this.#running.set(name, running);
    return running;
  }

  /** Lets scenarios run once more whose recordings have one of these responses. */
  async forgetThoseWith(responses: readonly Response[]): Promise<void> {
    for (const [name, running] of [...this.#running]) {
      const recording = (await running.catch(() => undefined)) as Recordable;
      if (answersIn(recording).some((response) => responses.includes(response)) && this.#running.get(name) === running)
        this.#running.delete(name);
    }
  }

  clear(): void {
    this.#running.clear();
  }
}
