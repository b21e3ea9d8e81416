import {
  type Check,
  defineCheck,
  defineInvariant,
  isTimedOut,
  likenessOf,
  type RequestSpec,
  type Response,
  type Session,
} from "../src/checks/index.ts";
import { isObject, member } from "../src/core/index.ts";
import { listEntries } from "../src/dialects/index.ts";
import { anArray, anObject, success, that, type Verdict } from "../src/judging/index.ts";
import { otherDialect } from "./shared/cases/other-dialect.ts";
import { isCutByUs } from "./shared/judge/cut-by-us.ts";
import { idsOf, listedModels } from "./shared/requests/model-ids.ts";

/** Judges a list: status, the array, an id in every entry. */
export function judgeList(list: Response, verdict: Verdict): void {
  if (isCutByUs(list)) verdict.inconclusive(`the list is longer than a run keeps: ${list.summary}`);
  const seen = { in: list };
  if (!verdict.must("MODELS-1", list.status, success, { ...seen, at: "status" })) return;
  if (!verdict.must("MODELS-1", list.json, anObject, { in: list, at: "" })) return;
  if (!verdict.must("MODELS-1", member(list.json, "data"), anArray, { in: list, at: "/data" })) return;
  const bad = listedModels(list).withoutId;
  verdict.must(
    "MODELS-2",
    bad,
    that("every entry with a non-empty string id", (value) => (value as number[]).length === 0),
    {
      in: list,
      at: `/data/${bad[0] ?? 0}/id`,
      because: "indexes of entries without one",
    },
  );
}

const listShape = defineCheck({
  id: "models.list",
  title: "The list is a JSON object with an array of entries that have ids",
  covers: ["MODELS-1", "MODELS-2", "MODELS-6"],
  explains:
    "Fetches the list on several connections and with every valid key. `data` must be an array whose entries each have a non-empty string `id`; other fields, order and duplicates are recorded.",
  cost: { requests: 6 },
  async run(t) {
    const lists: Response[] = [];
    for (const freshConnection of [false, true, true, false])
      lists.push(await t.send({ endpoint: "models", freshConnection }));
    for (const key of [t.target.keys.second, t.target.keys.other])
      if (key !== undefined) lists.push(await t.send({ endpoint: "models", key }));
    return { lists };
  },
  judge({ lists }, verdict) {
    for (const list of lists) judgeList(list, verdict);
    const [first] = lists;
    if (first === undefined) return;
    const ids = idsOf(first);
    const fields = [
      ...new Set(listEntries(first.json).flatMap((entry) => (isObject(entry) ? Object.keys(entry) : []))),
    ];
    const seen = new Set<string>();
    const duplicates = ids.filter((id) => seen.size === seen.add(id).size);
    const odd = ids.filter((id) => /[/:]/.test(id));
    verdict.observe(
      "MODELS-6",
      { entries: ids.length, fields, duplicates, withSlashOrColon: odd.length },
      { in: first },
    );
  },
});

/** Maximum number of ids that are tried: listed models may be slow, expensive or broken for unrelated reasons. */
const SAMPLE = 12;
/** The same for ids that are only shown to another key. */
const OWN_SAMPLE = 4;
/** Time within which a model would have been denied; a slower response is not a denial. */
const DENIAL_MS = 4_000;

/** A requested model; in the second dialect only if the first does not know it. */
type ModelAttempt = { readonly id: string; readonly first: Response; readonly second: Response | null };

const responsesOf = ({ first, second }: ModelAttempt): Response[] => [first, ...(second === null ? [] : [second])];

/** Whether the response says that the model does not exist: for a model of another kind a 404 may mean something else. */
const isUnknownAs =
  (noSuchModel: Response) =>
  (tried: ModelAttempt): boolean =>
    responsesOf(tried).every(
      (response) =>
        response.status === 404 &&
        (response.reason === "model_not_found" || likenessOf(response) === likenessOf(noSuchModel)),
    );

/** Whether the result is known: it was served, in progress or not found, and did not fail temporarily. */
const isDecided = (tried: ModelAttempt): boolean =>
  responsesOf(tried).some(({ admitted, status, exchange }) => admitted || status === 404 || isTimedOut(exchange));

async function tryId(t: Session, key: RequestSpec["key"], id: string): Promise<ModelAttempt> {
  const request: RequestSpec = {
    model: { id },
    intent: "any",
    repeats: false,
    bounds: { deadlineMs: DENIAL_MS },
    ...(key === undefined ? {} : { key }),
  };
  const first = await t.send(request);
  const other = otherDialect(t);
  const second = first.status === 404 && other !== undefined ? await t.send({ ...request, endpoint: other }) : null;
  return { id, first, second };
}

/** Requests ids of a key's list; unknown ones a second time, if the list still has them. */
async function tryIds(t: Session, key: RequestSpec["key"], ids: readonly string[]) {
  const tried = await Promise.all(ids.map((id) => tryId(t, key, id)));
  const doubtful = tried.filter(({ first }) => first.status === 404);
  if (doubtful.length === 0) return { tried, retried: [] };
  const again = await t.send({ endpoint: "models", ...(key === undefined ? {} : { key }) });
  const still = doubtful.filter(({ id }) => !again.admitted || idsOf(again).includes(id));
  return { tried, retried: await Promise.all(still.map(({ id }) => tryId(t, key, id))) };
}

const listedIdsWork = defineCheck({
  id: "models.listed-ids-work",
  title: "A listed id is a valid model",
  covers: ["MODELS-3", "MODELS-4"],
  explains:
    "Requests a reply for ids taken verbatim from the list, and, with the other valid keys, for ids in their lists that the first list lacks. A listed id that gets 404 model_not_found twice, with the list fetched again in between, is a warning, as is a configured model that the list lacks, or that is served to another key whose list lacks it. Other failures of a model are not judged here.",
  // A list may have models whose provider fails.
  schedule: { failsUpstream: true },
  cost: { requests: SAMPLE + 8 },
  async run(t) {
    const list = await t.send({ endpoint: "models" });
    const configured = t.target.dialects.flatMap((dialect) => t.target.models[dialect].plain ?? []);
    const ids = idsOf(list);
    const sample = [...ids.filter((id) => configured.includes(id)), ...spread(ids, SAMPLE)];
    /** Results for configured models that another key's list lacks. */
    const unlisted: Response[] = [];
    const tried = [await tryIds(t, undefined, [...new Set(sample)].slice(0, SAMPLE))];
    for (const key of [t.target.keys.second, t.target.keys.other]) {
      if (key === undefined) continue;
      const own = idsOf(await t.send({ endpoint: "models", key }));
      const added = own.filter((id) => !ids.includes(id));
      tried.push(await tryIds(t, key, spread(added, OWN_SAMPLE)));
      const left = configured.filter((id) => own.length > 0 && ids.includes(id) && !own.includes(id));
      for (const id of new Set(left)) unlisted.push(await t.send({ model: { id }, key, intent: "any" }));
    }
    return {
      list,
      noSuchModel: await t.send({ model: "unknown", intent: "denied" }),
      unlisted,
      tried: tried.flatMap((one) => one.tried),
      retried: tried.flatMap((one) => one.retried),
      configured,
    };
  },
  judge({ list, noSuchModel, unlisted, tried, retried, configured }, verdict) {
    verdict.requireControl(list, "the model list");
    const ids = idsOf(list);
    // The contents of further pages are unknown (MODELS-6).
    const isWhole = member(list.json, "has_more") !== true;
    for (const id of isWhole ? configured : []) {
      verdict.should("MODELS-3", !ids.includes(id), false, {
        in: list,
        because: `the configured model ${id} is not in the list`,
      });
    }
    if (tried.length === 0) return verdict.observe("MODELS-3", "the list is empty", { in: list });
    if (!tried.some(isDecided)) return verdict.inconclusive(`no listed model was served: ${tried[0]?.first.summary}`);
    for (const response of unlisted) {
      verdict.should("MODELS-3", response.admitted, false, {
        in: response,
        because: "a configured model is served to a key whose list lacks it",
      });
    }
    const unknown = retried.filter(isUnknownAs(noSuchModel));
    verdict.should(
      "MODELS-3",
      unknown.map(({ id }) => id),
      that("no listed id is reported as unknown", (value) => (value as string[]).length === 0),
      {
        in: unknown[0]?.first ?? list,
      },
    );
    verdict.should("MODELS-4", unknown.length, 0, {
      in: unknown[0]?.first ?? list,
      because: "the list agrees with what can be called",
    });
  },
});

/** Evenly spaced members of a list, including the first and the last. */
function spread<T>(list: readonly T[], most: number): T[] {
  if (list.length <= most) return [...list];
  return Array.from({ length: most }, (_, index) => list[Math.round((index * (list.length - 1)) / (most - 1))] as T);
}

const listIsSteady = defineCheck({
  id: "models.stable",
  title: "Lists fetched in quick succession agree",
  covers: ["MODELS-4"],
  explains:
    "The list is live, so it may change, but it should not flicker. Fetches it over several connections: an id that comes and goes within one run is a warning.",
  cost: { requests: 8 },
  async run(t) {
    const lists: Response[] = [];
    for (let fetched = 0; fetched < 8; fetched++)
      lists.push(await t.send({ endpoint: "models", freshConnection: fetched % 2 === 1 }));
    return { lists };
  },
  judge({ lists }, verdict) {
    for (const list of lists) verdict.requireControl(list, "the model list");
    judgeSteadiness(lists, verdict);
  },
});

const allListsAgree = defineInvariant({
  id: "models.stable-throughout",
  title: "All lists of a run agree",
  covers: ["MODELS-4"],
  explains:
    "Checks every list returned to a valid key during the run, between requests of all kinds: an id that comes and goes within one run is a warning.",
  judge(responses, verdict) {
    const lists = responses.filter(isPlainList).sort((a, b) => a.exchange.timeline.dueUs - b.exchange.timeline.dueUs);
    // Which models are available may depend on the key.
    const keys = [...new Set(lists.map(({ exchange }) => exchange.key))];
    const byKey = keys
      .map((key) => lists.filter(({ exchange }) => exchange.key === key))
      .filter(({ length }) => length >= 3);
    if (byKey.length === 0) return verdict.inconclusive("no key was given three lists");
    for (const ofOneKey of byKey) judgeSteadiness(ofOneKey, verdict);
  },
});

const everyListIsOne = defineInvariant({
  id: "models.every-list",
  title: "Every list of a run has an array of entries with ids",
  covers: ["MODELS-1", "MODELS-2"],
  explains:
    "Checks every list returned to any key during the run, including accounts that may not spend: `data` must be an array whose entries each have a non-empty string `id`.",
  judge(responses, verdict) {
    const lists = responses.filter(isList);
    const bad = lists.find((list) => {
      const { isArray, withoutId } = listedModels(list);
      return !isArray || withoutId.length > 0;
    });
    const shown = bad ?? lists[0];
    if (shown === undefined) return verdict.inconclusive("no key was given a list");
    judgeList(shown, verdict);
  },
});

function isList({ requested, admitted, exchange }: Response): boolean {
  return (
    requested.endpoint === "models" &&
    requested.intent !== "invalid" &&
    admitted &&
    exchange.request.url.endsWith("/models")
  );
}

const isPlainList = (response: Response): boolean => isList(response) && response.requested.intent === "valid";

/**
 * An id may be added or removed once; one that appears, disappears and appears again is flicker. The lists are in request order.
 */
function judgeSteadiness(lists: readonly Response[], verdict: Verdict): void {
  const sets = lists.map((list) => new Set(idsOf(list)));
  const flickering = [...new Set(sets.flatMap((set) => [...set]))].filter((id) => {
    const there = sets.map((set) => set.has(id));
    return there.slice(there.indexOf(true), there.lastIndexOf(true)).includes(false);
  });
  verdict.should(
    "MODELS-4",
    flickering,
    that("no id that comes and goes", (value) => (value as string[]).length === 0),
    { in: lists[0] },
  );
}

export const MODELS: readonly Check[] = [listShape, listedIdsWork, listIsSteady, allListsAgree, everyListIsOne];
