import { hash } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { openAudit } from '../../access/audit/audit.ts';
import type { AuditEntry } from '../../access/audit/schema.ts';
import { tagsOfKey } from '../../access/authenticate.ts';
import { hashPassword } from '../../access/passwords/password.ts';
import { keyStore } from '../../access/store.ts';
import { userStore } from '../../access/users/users.ts';
import { budgetStore } from '../../budgets/store.ts';
import { cacheSavings, costOf } from '../../catalog/cost.ts';
import { currentCatalog } from '../../catalog/current.ts';
import { aliasStore } from '../../combos/aliases/store.ts';
import { comboStore } from '../../combos/store.ts';
import { usableStorageKey } from '../../connections/credentials/storage-key.ts';
import { connectionStore } from '../../connections/store.ts';
import { inputTokens, outputTokens } from '../../ledger/buckets.ts';
import { createLedger } from '../../ledger/record.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { randomText } from '../../lib/id.ts';
import { findProvider } from '../../providers/index.ts';
import { openStore, type Store } from '../../store/database.ts';
import { createWriter } from '../../store/writer.ts';
import {
  aliases,
  budgets,
  combos,
  connections,
  type DemoBudget,
  type DemoConnection,
  keys,
  users,
} from './installation.ts';
import { createRandom } from './random.ts';
import { type TrafficInput, traffic } from './traffic.ts';

export interface DemoDataInput {
  /** An empty folder. */
  dataDir: string;
  /** Milliseconds since the epoch at which the traffic ends. */
  end: number;
  days: number;
  requests: number;
  seed: number;
  /** Called after every so many requests that were written. */
  progress(written: number): void;
}

export interface DemoDataResult {
  requests: number;
  /** Of all users. Stored as a hash only. */
  password: string;
  users: string[];
}

/** The file by which a folder of demo data is known. */
export const markerFile = 'demo-data.json';

const DAY_MS = 86_400_000;
const PASSWORD_LENGTH = 20;
/** Rows that wait for the disk. */
const BATCH = 5_000;

/** Fills a data directory with what a small team leaves behind in some days of work. */
export async function writeDemoData(input: DemoDataInput): Promise<DemoDataResult> {
  const { dataDir, days, end, requests, seed } = input;
  const marker = { about: 'made by `gateway demo-data`: may be replaced by it', seed, days, requests };
  await writeFile(join(dataDir, markerFile), `${JSON.stringify(marker)}\n`, { mode: 0o600 });
  await writeFile(join(dataDir, 'events.yaml'), eventsYaml, { mode: 0o600 });
  const store = await openStore(dataDir, { create: true });
  try {
    const password = await writeUsers(store, end);
    const installed = await writeInstallation(store, input);
    const { count, spent } = await writeTraffic(store, installed, input);
    await writeBudgets(store, installed, spent, end);
    await writeAudit(input);
    return { requests: count, password, users: users.map(({ name }) => name) };
  } finally {
    await store.close();
  }
}

async function writeUsers(store: Store, end: number): Promise<string> {
  const password = randomText(PASSWORD_LENGTH);
  const hash = await hashPassword(password);
  const people = userStore(store, () => end - 45 * DAY_MS);
  await people.setAdminPassword(hash);
  for (const { displayName, name, role } of users) {
    if (name === 'admin') continue;
    await people.add({ name, displayName, role, password: hash });
  }
  return password;
}

type DemoInstallation = Pick<TrafficInput, 'keyIds' | 'keyTags' | 'comboIds' | 'connections'>;

async function writeInstallation(store: Store, { dataDir, end }: DemoDataInput): Promise<DemoInstallation> {
  const begin = end - 45 * DAY_MS;
  const sealing = await usableStorageKey(store, { dataDir, secret: null });
  const accounts = connectionStore(store, sealing.key, () => begin);
  const tested = connectionStore(store, sealing.key, () => end - DAY_MS);
  const installed = new Map<string, { id: string; provider: string; billing: DemoConnection['billing'] }>();
  for (const { active, baseUrl, billing, fault, keyed, name, priority, provider } of connections) {
    const apiKey = keyed ? `demo-${randomText(24)}` : null;
    const { id } = await accounts.add({
      name,
      provider,
      baseUrl,
      apiKey,
      defaultModel: null,
      priority,
      active,
      billing,
    });
    await tested.saveTest(id, {
      valid: fault === null,
      error: fault,
      statusCode: fault === null ? 200 : 401,
      latencyMs: 240,
      models: null,
    });
    installed.set(name, { id, provider, billing });
  }
  const keyIds = new Map<string, string>();
  const keyTags = new Map<string, readonly string[]>();
  for (const { age, disabled, labels, models, name, owner, team } of keys) {
    const keyInput = { name, models, expiresAt: null, labels, owner, team };
    const { record } = await keyStore(store, () => end - age * DAY_MS).add(keyInput);
    if (disabled) await keyStore(store).update(record.id, { disabled: true });
    keyIds.set(name, record.id);
    keyTags.set(name, tagsOfKey(record));
  }
  const routing = comboStore(store, () => begin);
  const comboIds = new Map<string, string>();
  for (const { active, ...combo } of combos) {
    const { id } = await routing.add(combo);
    if (active) await routing.activate(id);
    comboIds.set(combo.name, id);
  }
  for (const alias of aliases) await aliasStore(store, () => begin).add(alias);
  return { keyIds, keyTags, comboIds, connections: installed };
}

/** What was used in the last calendar month, by the subjects that budgets may have. */
type Spending = Map<string, { usd: number; tokens: number }>;

async function writeTraffic(
  store: Store,
  installed: DemoInstallation,
  { dataDir, days, end, progress, requests, seed }: DemoDataInput,
): Promise<{ count: number; spent: Spending }> {
  const catalog = currentCatalog({ dataDir, overrides: {} })();
  const faults: unknown[] = [];
  const writer = createWriter(store, { maxPending: 10 * BATCH, onError: (error) => faults.push(error) });
  const ledger = createLedger(writer);
  const traceColumns = ['id', 'trace'] as const;
  const spent: Spending = new Map();
  const month = new Date(end);
  const monthBegan = Date.UTC(month.getUTCFullYear(), month.getUTCMonth());
  const made = traffic(
    {
      ...installed,
      days,
      end,
      requests,
      sessionOf: (key, began) => uuidOf(hash('sha256', `${seed} ${key} ${began}`)),
      costOf(providerId, model, { tier, usage }, at) {
        const provider = findProvider(providerId);
        const price = provider === undefined ? null : catalog.priceOf(provider, model, at, tier);
        if (price === null) return { costUsd: null, priceSource: null, cacheSavingsUsd: null };
        return {
          costUsd: costOf(price, usage),
          priceSource: price.source,
          cacheSavingsUsd: cacheSavings(price, usage),
        };
      },
    },
    createRandom(seed),
  );
  let count = 0;
  for (const { entry, trace } of made) {
    ledger.record(entry);
    if (trace !== null) writer.push('traces', traceColumns, [entry.id, JSON.stringify(trace)]);
    if (entry.startedAt >= monthBegan) addSpent(spent, entry);
    count += 1;
    if (count % BATCH !== 0) continue;
    await writer.flush();
    progress(count);
    // Lets the terminal, and Ctrl+C, have their turn.
    await new Promise((resolve) => setImmediate(resolve));
  }
  await writer.stop();
  if (faults.length > 0) throw faults[0];
  return { count, spent };
}

function addSpent(spent: Spending, { connectionId, costUsd, keyId, usage }: LedgerEntry): void {
  const tokens = usage === null ? 0 : inputTokens(usage) + outputTokens(usage);
  for (const subject of ['', keyId, connectionId]) {
    if (subject === null) continue;
    const sum = spent.get(subject) ?? { usd: 0, tokens: 0 };
    spent.set(subject, { usd: sum.usd + (costUsd ?? 0), tokens: sum.tokens + tokens });
  }
}

async function writeBudgets(
  store: Store,
  installed: DemoInstallation,
  spent: Spending,
  end: number,
): Promise<void> {
  const limits = budgetStore(store, () => end - 40 * DAY_MS);
  for (const { ofSpent, subject: name, ...budget } of budgets) {
    const subject = name === null ? null : subjectId(installed, budget.scope, name);
    const sum = spent.get(subject ?? '') ?? { usd: 0, tokens: 0 };
    const used = (budget.metric === 'tokens' ? sum.tokens : sum.usd) * ofSpent;
    await limits.add({ ...budget, subject, limit: used > 0 ? roundedUp(used) : 1 });
  }
}

/** Digits in the shape in which tools write the ids of their sessions. */
function uuidOf(digits: string): string {
  return digits.slice(0, 32).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** A figure as people choose them: two digits and zeros. At most a tenth more. @param value above 0 */
function roundedUp(value: number): number {
  const unit = 10 ** (Math.floor(Math.log10(value)) - 1);
  return Number((Math.ceil(value / unit) * unit).toPrecision(2));
}

function subjectId(
  { comboIds, connections: accounts, keyIds }: DemoInstallation,
  scope: DemoBudget['scope'],
  name: string,
): string {
  const id =
    scope === 'key' ? keyIds.get(name) : scope === 'combo' ? comboIds.get(name) : accounts.get(name)?.id;
  if (id === undefined) throw new RangeError(`no ${scope} "${name}"`);
  return id;
}

/** Who set it all up, as the audit log would tell it. */
async function writeAudit({ dataDir, end }: DemoDataInput): Promise<void> {
  let at = end - 45 * DAY_MS;
  const audit = openAudit({
    dataDir,
    retentionMonths: null,
    now: () => at,
    onError: () => {},
  });
  const actor = { id: null, name: 'admin', role: 'admin', via: 'cli', token_id: null } as const;
  const done = (action: string, target: string, outcome: AuditEntry['outcome'] = 'success'): AuditEntry => ({
    request_id: null,
    actor,
    address: null,
    action,
    target,
    input: null,
    before: null,
    after: null,
    outcome,
    reason: outcome === 'success' ? null : 'unauthorized',
  });
  const entries = [
    ...connections.map(({ name }) => done('connections.create', name)),
    ...combos.map(({ name }) => done('combos.create', name)),
    ...keys.map(({ name }) => done('keys.create', name)),
    done('auth.login', 'otto', 'denied'),
    done('keys.disable', 'intern-2025'),
    done('combos.activate', 'coding'),
  ];
  const step = (end - at) / entries.length;
  for (const entry of entries) {
    at = Math.floor(at + step * 0.98);
    await audit.writeNow(entry);
  }
  await audit.close();
}

/** A webhook that does not answer, so that there are dead letters to look at after the first event. */
const eventsYaml = `components:
  channels:
    - {unique_id: main, url: "sqlite:", mq_topic_name: gateway}
  sources:
    - ref: {unique_id: gateway, kind: gateway}
  triggers:
    - ref: {unique_id: log, kind: log}
    - ref: {unique_id: team-chat, kind: http, name: "https://chat.invalid/hooks/gateway"}
strategy:
  trigger_strategies:
    - event_trigger_id: team-chat
      runtime_strategy:
        retry_rule: {retry_max: 1, back_off_delay: PT1S}
      dead_letter_strategy: {enable: true, persistence: {persistence_type: LFS, persistence_size: 10000000}}
router_rules:
  routers:
    - {source_id: gateway, trigger_id: log, channel_id: main, filter: {cesql: "type LIKE 'io.modelgate.budget.%'"}}
    - {source_id: gateway, trigger_id: team-chat, channel_id: main}
`;
