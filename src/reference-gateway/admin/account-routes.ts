import type { FastifyInstance } from "fastify";
import { isObject } from "../../core/index.ts";
import type { Account, ApiKey } from "../accounts/account.ts";
import { type Limits, TIERS } from "../accounts/tiers.ts";
import { utcDay } from "../accounts/utc-day.ts";
import type { Services } from "../services.ts";
import { AdminError, Fields } from "./fields.ts";

interface ById {
  Params: { id: string };
}

/** Visible ASCII: other text could not be sent verbatim in a header. */
const KEY_TEXT = /^[\x21-\x7e]{8,256}$/;

/** Accounts and keys: create, read, update. */
export function accountRoutes(app: FastifyInstance, services: Services): void {
  const { accounts } = services;
  const accountOf = (id: string): Account => {
    const account = accounts.account(id);
    if (account === undefined) throw new AdminError(404, `no account ${id}`);
    return account;
  };

  app.get("/accounts", () => [...accounts.accounts].map((account) => accountView(account, services)));

  app.post("/accounts", (request, reply) => {
    const fields = new Fields(request.body ?? {}, ["name", "tier", "limits", "balanceMicroUsd"]);
    const name = fields.text("name") ?? "unnamed";
    const account = accounts.createAccount(name, limitsIn(fields), fields.whole("balanceMicroUsd") ?? 0);
    return reply.code(201).send(accountView(account, services));
  });

  app.get<ById>("/accounts/:id", (request) => accountView(accountOf(request.params.id), services));

  app.patch<ById>("/accounts/:id", (request) => {
    const account = accountOf(request.params.id);
    const fields = new Fields(request.body, ["tier", "limits", "balanceMicroUsd"]);
    const balance = fields.whole("balanceMicroUsd");
    if (fields.has("tier") || fields.has("limits"))
      account.changeLimits(limitsIn(fields), services.clock.monotonicUs());
    if (balance !== undefined) account.balanceMicroUsd = balance;
    return accountView(account, services);
  });

  keyRoutes(app, services, accountOf);
}

function keyRoutes(app: FastifyInstance, services: Services, accountOf: (id: string) => Account): void {
  const { accounts } = services;
  const keyOf = (id: string): ApiKey => {
    const key = accounts.key(id);
    if (key === undefined) throw new AdminError(404, `no key ${id}`);
    return key;
  };

  app.get("/keys", () => [...accounts.keys].map((key) => keyView(key, services)));

  app.post("/keys", (request, reply) => {
    const fields = new Fields(request.body, ["account", "capMicroUsd", "budgetMicroUsd", "parent", "key"]);
    const parent = fields.text("parent");
    const text = fields.text("key");
    if (text !== undefined && !KEY_TEXT.test(text)) {
      throw new AdminError(400, "key: 8 to 256 visible ASCII characters are expected");
    }
    const terms = {
      capMicroUsd: fields.whole("capMicroUsd"),
      budgetMicroUsd: fields.whole("budgetMicroUsd"),
      parent: parent === undefined ? undefined : keyOf(parent),
    };
    const account = terms.parent?.account ?? accountOf(fields.text("account") ?? "");
    const key = accounts.createKey(account, terms, text);
    if (key === undefined) throw new AdminError(409, "key: another key has this text");
    // The only response that shows the text.
    return reply.code(201).send({ ...keyView(key, services), key: key.secret });
  });

  app.post("/keys/find", (request) => {
    const key = accounts.find(new Fields(request.body, ["key"]).text("key") ?? "");
    if (key === undefined) throw new AdminError(404, "no key has this text");
    return keyView(key, services);
  });

  app.get<ById>("/keys/:id", (request) => keyView(keyOf(request.params.id), services));

  app.patch<ById>("/keys/:id", (request) => {
    const key = keyOf(request.params.id);
    const fields = new Fields(request.body, ["capMicroUsd", "budgetMicroUsd", "revoked"]);
    if (fields.has("capMicroUsd")) key.capMicroUsd = fields.wholeOrNull("capMicroUsd") ?? undefined;
    if (fields.has("budgetMicroUsd")) key.budgetMicroUsd = fields.wholeOrNull("budgetMicroUsd") ?? undefined;
    key.revoked = fields.flag("revoked") ?? key.revoked;
    return keyView(key, services);
  });
}

function limitsIn(fields: Fields): Limits {
  const tier = fields.text("tier");
  const limits = fields.object("limits");
  if (limits !== undefined) {
    const { rpm, inFlight } = isObject(limits) ? limits : {};
    if (Number.isSafeInteger(rpm) && Number.isSafeInteger(inFlight) && Number(rpm) >= 1 && Number(inFlight) >= 1) {
      return { rpm: Number(rpm), inFlight: Number(inFlight) };
    }
    throw new AdminError(400, "limits: { rpm, inFlight }, whole numbers of 1 or more, are expected");
  }
  const found = Object.entries(TIERS).find(([name]) => name === (tier ?? "starter"))?.[1];
  if (found === undefined) throw new AdminError(400, `tier: one of ${Object.keys(TIERS).join(", ")} is expected`);
  return found;
}

/** An account in responses of the admin interface. */
function accountView(account: Account, { clock }: Services) {
  return {
    id: account.id,
    name: account.name,
    limits: account.limits,
    balanceMicroUsd: account.balanceMicroUsd,
    reservedMicroUsd: account.reservedMicroUsd,
    inFlight: account.concurrency.held,
    peakInFlight: account.concurrency.peak,
    rateRemaining: account.limiter.remaining(clock.monotonicUs()),
    keys: account.keys.map((key) => key.id),
  };
}

/** A key in responses of the admin interface: without its text. */
function keyView(key: ApiKey, { clock }: Services) {
  const nowUs = clock.monotonicUs();
  return {
    id: key.id,
    account: key.account.id,
    parent: key.parent?.id ?? null,
    revoked: key.revoked,
    capMicroUsd: key.capMicroUsd ?? null,
    budgetMicroUsd: key.budgetMicroUsd ?? null,
    spentTodayMicroUsd: key.spend.onDay(utcDay(clock.nowMs()), nowUs),
    spentMicroUsd: key.spend.inLifetime,
    reservedMicroUsd: key.spend.reserved,
  };
}
