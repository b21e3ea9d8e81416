import { defineStepScenario, type Response, type Scenario, type Session, type Step } from "../../src/checks/index.ts";
import type { Verdict } from "../../src/judging/index.ts";
import { otherDialect } from "../shared/cases/other-dialect.ts";
import { expectedDenial } from "../shared/judge/expected-denial.ts";
import { deniedKinds } from "./denied-kinds.ts";
import {
  cutOf,
  type Drive,
  drive,
  driveLong,
  effortFor,
  inTurnsOf,
  type Kind,
  kindsOf,
  LAG_S,
  type UsedUpState,
} from "./drive.ts";
import { freeBatches } from "./free-batches.ts";
import { burst, overshoot } from "./key-bursts.ts";
import { freshKeyOf, isUsedUp, type KeyRecording, type KeyRun, NOTHING_SENT } from "./key-recording.ts";
import { driveQuickly } from "./quick-drives.ts";
import { sendSpelled } from "./spelled.ts";

/** Once one kind of traffic has used the whole allowance without a denial, the others get this much. */
const SHORT_LAG_S = 5;

/** If a key is denied after at most this many requests, without waiting, its tally does not lag. */
const PROMPT = 30;

/** Expensive requests reach the limit if at most this many cheap ones did. */
const FEW_ENOUGH = 60;

/** After this time a used-up key is tried once more, ms. */
const REFILL_MS = 12_000;

/** Kinds of traffic that are sent on another key of the account. */
const SIBLING_KINDS = 3;

/**
 * How a small cap or budget behaves: failures are free, each kind of traffic counts, other keys of the account are unaffected.
 * With a provisioner of fresh keys each kind gets its own key; otherwise one kind uses up the only key. A quick run uses up
 * neither the cap nor a key that cannot be replaced.
 */
function stepsFor(state: UsedUpState): readonly Step<KeyRun, KeyRecording>[] {
  const isBudget = state === "childSmall";
  const inQuick = (requests: number) => ({ quick: { requests: isBudget ? requests : 0 } });
  return [
    {
      name: "before",
      cost: { requests: 1, ...inQuick(1) },
      when: (_, { key }) => key !== undefined,
      run: ({ t, key }) => t.send({ ...(key !== undefined && { key }), intent: "any" }),
    },
    {
      // A key that cannot be replaced must be tested before it is used up.
      name: "batches",
      onlyInFullRun: true,
      when: ({ before }, run) => !run.isRenewable && testsFailures(before, run),
      run: freeBatchesAfterOthers,
    },
    {
      name: "drives",
      cost: { requests: 60, ...inQuick(76) },
      dependsOn: "before",
      run: (run) => (run.t.run.isQuick ? driveQuickly(run) : driveOwnKind(run)),
    },
    {
      // Each of the other kinds of traffic, on a separate key.
      name: "drives",
      cost: { requests: 180 },
      onlyInFullRun: true,
      when: (_, { isRenewable }) => isRenewable,
      run: driveOtherKinds,
    },
    {
      // As many requests as used it up when they were cheaper.
      name: "drives",
      cost: { requests: isBudget ? 30 : 0 },
      onlyInFullRun: true,
      when: ({ drives }, { isRenewable }) =>
        isRenewable && isBudget && drives.every(({ denial, served }) => denial !== null && served <= FEW_ENOUGH),
      run: (run, { drives }) => withOneMore(run, drives, cutOf(run.t), LAG_S[state]),
    },
    {
      name: "drives",
      cost: { requests: 18 },
      onlyInFullRun: true,
      when: ({ drives }, { isRenewable }) => isRenewable && drives.every(({ denial }) => denial !== null),
      run: driveLongStreams,
    },
    {
      name: "fresh",
      cost: { requests: 1, ...inQuick(1) },
      when: (recording, { isRenewable }) => isRenewable && isUsedUp(recording),
      run: sendOnFreshKey,
    },
    {
      name: "denied",
      cost: { requests: 12 },
      onlyInFullRun: true,
      when: isUsedUp,
      async run(run) {
        const { t, key } = run;
        if (key === undefined) return [];
        const { denied, open } = await deniedKinds(t, key, LAG_S[state]);
        run.open = open;
        return denied;
      },
    },
    { name: "open", run: ({ open }) => open },
    {
      name: "spelled",
      cost: { requests: 16 },
      onlyInFullRun: true,
      when: ({ denied }) => denied.length > 0 && !denied.some(({ admitted }) => admitted),
      run: ({ t, key, own }) => (key === undefined ? [] : sendSpelled(t, key, own, LAG_S[state])),
    },
    {
      name: "sibling",
      cost: { requests: 3, ...inQuick(1) },
      when: isUsedUp,
      run: sendOnSibling,
    },
    {
      name: "again",
      cost: { requests: 1, waitS: 10, ...inQuick(1) },
      when: isUsedUp,
      async run({ t, key }) {
        // A key that is accepted again after a while was not stopped: a cap lasts a day, a budget for ever.
        if (!t.run.isQuick) await t.wait(REFILL_MS, "the next try of a used-up key");
        if (key === undefined) return null;
        return t.send({ key, mode: "non-streaming", intent: "denied", repeats: false });
      },
    },
    {
      name: "burst",
      cost: { requests: 20 },
      onlyInFullRun: true,
      when: (_, { isRenewable }) => isRenewable,
      run: ({ t }, { drives }) => burst(t, state, drives),
    },
    {
      name: "parallel",
      cost: { requests: 8 },
      onlyInFullRun: true,
      when: (_, { isRenewable }) => isRenewable,
      run: ({ t }, { drives }) => overshoot(t, state, drives.find(({ kind }) => kind.long === true)?.served ?? 0),
    },
    {
      // Valid requests and upstream failures, alternately, on a separate key.
      name: "drives",
      cost: { requests: isBudget ? 60 : 0 },
      onlyInFullRun: true,
      when: ({ before }, run) => isBudget && run.isRenewable && testsFailures(before, run),
      run: driveInTurns,
    },
    {
      name: "batches",
      cost: { requests: isBudget ? 310 : 0 },
      onlyInFullRun: true,
      when: ({ before }, run) => run.isRenewable && testsFailures(before, run),
      run: freeBatchesOnOwnKey,
    },
  ];
}

/** The run uses up a key that starts with room; all checks of a state judge one scenario. */
export function usedUpScenario(
  state: UsedUpState,
  assume: (recording: KeyRecording, verdict: Verdict) => void,
): Scenario<KeyRecording> {
  const reason = state === "cappable" ? "quota_exceeded" : "budget_exhausted";
  return defineStepScenario<KeyRun, KeyRecording>({
    id: `spending.${state}`,
    needs: [`key.${state}`],
    schedule: { resource: `key ${state}` },
    reaches: "spending",
    async begin(t) {
      const made = t.run.isQuick && state === "cappable" ? undefined : await t.fixtures.freshKey(`key.${state}`);
      // What an earlier run left on a key of the target file is unknown.
      const key = made ?? (t.run.isQuick ? undefined : t.target.keys[state]);
      if (key === undefined && !t.run.isQuick) throw new Error(`no key in the state ${state}`);
      const shared: KeyRun = {
        t,
        state,
        key,
        isRenewable: made !== undefined,
        hasFreeBatches: state === "childSmall" || t.target.keys.childSmall === undefined,
        own: { endpoint: t.dialect, mode: "streaming" },
        open: null,
      };
      return { shared, recording: { ...NOTHING_SENT, state, expected: expectedDenial(t, reason) } };
    },
    steps: stepsFor(state),
    assume,
  });
}

/** Whether the key was served and is the one on which failures are tested. */
function testsFailures(before: Response | null, { hasFreeBatches }: KeyRun): boolean {
  return before?.admitted === true && hasFreeBatches;
}

async function freeBatchesAfterOthers({ t, key, state, isRenewable }: KeyRun) {
  await t.afterOthers();
  return key === undefined ? [] : freeBatches(t, key, state, isRenewable);
}

async function freeBatchesOnOwnKey(run: KeyRun) {
  // For a budget, `driveInTurns` has already waited for the other checks.
  if (run.state !== "childSmall") await run.t.afterOthers();
  const key = await freshKeyOf(run);
  if (key === undefined || !(await run.t.send({ key, intent: "any" })).admitted) return [];
  return freeBatches(run.t, key, run.state, true);
}

async function driveOwnKind(run: KeyRun): Promise<Drive[]> {
  const { t, key, state } = run;
  if (key === undefined) return [];
  // The static keys get the kinds that gateways forget most often: streams of one dialect each.
  if (state === "cappable") run.own = await ownKindOfCap(t);
  return [await drive(t, key, run.own, LAG_S[state])];
}

async function ownKindOfCap(t: Session): Promise<Kind> {
  const endpoint = otherDialect(t) ?? t.dialect;
  const streamed = await t.send({ endpoint, mode: "streaming", intent: "invalid" });
  return { endpoint, mode: streamed.admitted ? "streaming" : "non-streaming" };
}

/** The drives so far, and one more on a fresh key. */
async function withOneMore(run: KeyRun, drives: readonly Drive[], kind: Kind, lagS: number): Promise<readonly Drive[]> {
  const key = await freshKeyOf(run);
  return key === undefined ? drives : [...drives, await drive(run.t, key, kind, lagS, effortFor(drives))];
}

async function driveOtherKinds(run: KeyRun, recording: KeyRecording): Promise<readonly Drive[]> {
  const { t, own, state } = run;
  let { drives } = recording;
  for (const kind of kindsOf(t).filter(({ endpoint, mode }) => endpoint !== own.endpoint || mode !== own.mode)) {
    const neverDenied = drives.some(({ denial, stoppedBecause }) => denial === null && stoppedBecause === null);
    drives = await withOneMore(run, drives, kind, neverDenied ? SHORT_LAG_S : LAG_S[state]);
  }
  return drives;
}

async function driveLongStreams(run: KeyRun, { drives }: KeyRecording): Promise<readonly Drive[]> {
  const { t, state } = run;
  const key = (await t.hasModel("stream")) ? await freshKeyOf(run) : undefined;
  return key === undefined ? drives : [...drives, await driveLong(t, key, LAG_S[state])];
}

async function driveInTurns(run: KeyRun, { drives }: KeyRecording): Promise<readonly Drive[]> {
  await run.t.afterOthers();
  // If the other keys were denied immediately, the tally has no lag. Waiting would only hide the effect of the failures.
  const lags = !drives.every(({ denial, waitedS, served }) => denial !== null && waitedS === 0 && served <= PROMPT);
  return withOneMore(run, drives, inTurnsOf(run.t), lags ? SHORT_LAG_S : 0);
}

/** One request of the kind that used up the first key. */
async function sendOnFreshKey(run: KeyRun): Promise<Response | null> {
  const key = await freshKeyOf(run);
  return key === undefined ? null : run.t.send({ key, ...run.own, intent: "any", repeats: false });
}

async function sendOnSibling({ t, own: { endpoint, mode } }: KeyRun): Promise<Response[]> {
  const kinds = t.run.isQuick ? [{ endpoint, mode }] : kindsOf(t).slice(0, SIBLING_KINDS);
  const responses: Response[] = [];
  for (const kind of kinds) responses.push(await t.send({ key: "valid", ...kind }));
  return responses;
}
