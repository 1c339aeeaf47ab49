import type { z } from 'zod';
import type { budgetRow } from '../../budgets/schema.ts';
import type { EventControl } from '../../events/open.ts';
import type { Caller, Resource } from '../../http/resource.ts';
import type { DriftedTool } from '../context.ts';
import { type AttentionRow, attentionRow } from './schema.ts';

export interface AttentionInput {
  /** The other collections, from which it is computed. */
  resources: readonly Resource[];
  /** Coding tools whose files are no longer as the gateway wrote them. */
  drifted(): readonly DriftedTool[];
  /** The event engine, where it is open: nothing is opened to look for dead letters. */
  events(): EventControl | null;
}

/** What is read of a member of `services`. */
interface Service {
  id: string;
  kind: string;
  name: string;
  state: string;
  state_reason: { message: string } | null;
  health: { status: string; checks: readonly { status: string; output: string }[] };
}

type Budget = z.infer<typeof budgetRow>;

/** The share of a budget from which it is listed, where the budget does not set one. */
const NEAR_PERCENT = 80;

/** What needs a person: services and connections that fail, budgets near their limits, changed tools, dead letters. */
export function attentionResource({ drifted, events, resources }: AttentionInput): Resource {
  const members = async (name: string, caller: Caller): Promise<readonly unknown[]> => {
    const resource = resources.find((one) => one.name === name);
    if (resource?.list === undefined || !caller.can(resource.read) || caller.narrowed(name)) return [];
    return resource.list(caller);
  };
  const list = async (caller: Caller): Promise<AttentionRow[]> => [
    ...((await members('services', caller)) as Service[]).flatMap(ofService),
    ...((await members('budgets', caller)) as Budget[]).flatMap(ofBudget),
    ...(caller.can('tools:read') ? drifted().map(ofTool) : []),
    ...(caller.can('events:inspect') ? await deadLetters(events()) : []),
  ];
  return {
    name: 'attention',
    title: 'Attention',
    summary:
      'What needs attention: failing services and connections, budgets near their limits, changed tools, dead letters.',
    record: attentionRow,
    read: 'services:read',
    list,
    find: async (id, caller) => (await list(caller)).find((row) => row.id === id) ?? null,
  };
}

function ofService({ health, id, kind, name, state, state_reason }: Service): AttentionRow[] {
  // A service that was stopped on purpose needs no attention.
  if (state === 'stopped' || (health.status !== 'fail' && state !== 'failed')) return [];
  const failing = health.checks.find(({ status }) => status === 'fail');
  const isConnection = kind === 'provider_connection';
  return [
    {
      ...nothing,
      id: `${isConnection ? 'connection' : 'service'}:${id}`,
      kind: isConnection ? 'connection' : 'service',
      subject: id,
      name,
      severity: 'fail',
      detail: state_reason?.message ?? failing?.output ?? `${name} fails`,
      mend: isConnection ? `gateway providers test ${name}` : null,
    },
  ];
}

function ofBudget({ id, metric, period, soft_percent, state, subject_name, subject, used_percent }: Budget) {
  const isNear = metric !== 'concurrency' && used_percent >= (soft_percent ?? NEAR_PERCENT);
  if (state === 'ok' && !isNear) return [];
  const name = subject_name ?? subject;
  const row: AttentionRow = {
    ...nothing,
    id: `budget:${id}`,
    kind: 'budget',
    subject: id,
    name,
    severity: state === 'used_up' ? 'fail' : 'warn',
    detail: `${used_percent} % of the budget of ${name ?? 'all requests'}${period === null ? '' : ` for the ${period}`} is used`,
    used_percent,
  };
  return [row];
}

function ofTool({ category, entries, id, mend, name }: DriftedTool): AttentionRow {
  return {
    ...nothing,
    id: `tool:${id}`,
    kind: 'tool',
    subject: id,
    name,
    severity: 'warn',
    detail: `${name} is no longer as it was set up: ${entries.join(', ')}`,
    mend,
    category,
  };
}

async function deadLetters(control: EventControl | null): Promise<AttentionRow[]> {
  // A storage of dead letters that does not answer is reported by the events service.
  const counts = (await control?.engine.deadLetters.counts().catch(() => [])) ?? [];
  return counts
    .filter(({ count }) => count > 0)
    .map(({ count, trigger }) => ({
      ...nothing,
      id: `dead_letters:${trigger}`,
      kind: 'dead_letters',
      subject: trigger,
      name: trigger,
      severity: 'warn',
      detail: `${count} ${count === 1 ? 'event' : 'events'} could not be delivered to ${trigger}`,
      mend: `gateway events dead-letters list --trigger ${trigger}`,
      count,
    }));
}

const nothing = { mend: null, category: null, used_percent: null, count: null };
