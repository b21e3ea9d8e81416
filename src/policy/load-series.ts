import type { LoadClass, LoadPhase, LoadRun } from "../record/index.ts";
import type { Labels, Measured } from "./metric.ts";

export function eachRun<T>(record: Measured, read: (run: LoadRun) => T[]): T[] {
  return (record.load?.runs ?? []).flatMap(read);
}

export function eachPhase<T>(record: Measured, read: (run: LoadRun, phase: LoadPhase) => T[]): T[] {
  return eachRun(record, (run) => run.phases.flatMap((phase) => read(run, phase)));
}

export function phaseLabels(run: LoadRun, phase: LoadPhase): { tier: string; phase: string } {
  return { tier: run.name, phase: phase.name };
}

export function classLabels({ dialect, stream }: Pick<LoadClass, "dialect" | "stream">): {
  dialect: string;
  stream: string;
} {
  return { dialect, stream: String(stream) };
}

/**
 * Requests of a phase by dialect and mode. Requests without a class, as from engines that do not record classes, have no such
 * labels.
 */
export function sentByKind({ sent, classes, denials }: LoadPhase): { readonly labels: Labels; readonly of: number }[] {
  const counts = new Map<string, { readonly labels: Labels; of: number }>();
  const add = (entry: Pick<LoadClass, "dialect" | "stream" | "count">) => {
    const labels = classLabels(entry);
    const key = JSON.stringify(labels);
    const known = counts.get(key) ?? { labels, of: 0 };
    counts.set(key, { labels, of: known.of + entry.count });
  };
  for (const entry of classes) add(entry);
  // An engine may count denials without a class for them.
  for (const entry of denials) if (!counts.has(JSON.stringify(classLabels(entry)))) add(entry);
  const inClasses = [...counts.values()].reduce((sum, { of }) => sum + of, 0);
  return [...counts.values(), { labels: {}, of: Math.max(0, sent - inClasses) }];
}

export function sentBy(run: LoadRun): number {
  return run.phases.reduce((sum, { sent }) => sum + sent, 0);
}
