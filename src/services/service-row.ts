import type { Caller, Row } from '../http/resource.ts';
import type { Health } from './health.ts';
import { iso, isoOrNull, type Part, type PartStatus } from './part.ts';
import type { ServiceRecord } from './store.ts';

export interface ServiceRowInput {
  part: Part;
  record: ServiceRecord;
  health: Health;
  restarts: { count: number; lastAt: number | null };
  /** All parts that the caller may see. */
  parts: readonly Part[];
  caller: Pick<Caller, 'can'>;
  now: number;
}

/** A service as a caller may see it. */
export function rowOfService(input: ServiceRowInput): Row {
  const { caller, now, part, parts, record, restarts } = input;
  const status = sealed(part, caller, part.status());
  const { changedAt, desired, error, reason, startedAt, state } = status;
  const operates = caller.can('services:operate');
  const visible = new Set(parts.map(({ id }) => id));
  return {
    id: part.id,
    guid: record.guid,
    name: part.name,
    description: part.description,
    kind: part.kind,
    desired_state: desired,
    state,
    power_state: powerOf(state),
    state_reason: reason,
    state_changed_at: isoOrNull(changedAt),
    health: healthFor(part, caller, input.health),
    started_at: isoOrNull(startedAt),
    created_at: iso(record.createdAt),
    updated_at: iso(record.updatedAt),
    uptime_seconds: startedAt === null ? null : Math.max(0, Math.floor((now - startedAt) / 1000)),
    restarts: { count: restarts.count, last_at: isoOrNull(restarts.lastAt) },
    // Where else than here the gateway can be reached is for those who run it.
    endpoints: part.endpoints().filter(({ visibility }) => operates || visibility === 'loopback'),
    depends_on: part.dependsOn.filter((id) => visible.has(id)).map(linkTo),
    dependents: dependentsOf(part, parts).map(({ id }) => linkTo(id)),
    critical: part.critical,
    version: part.version,
    config_revision: record.revision,
    options: part.options ?? {},
    labels: record.labels,
    last_error: error === null ? null : { ...error, at: isoOrNull(error.at) },
  };
}

export function dependentsOf({ id }: Part, parts: readonly Part[]): Part[] {
  return parts.filter(({ dependsOn }) => dependsOn.includes(id));
}

function linkTo(id: string): { id: string; href: string } {
  return { id, href: `/api/services/${id}` };
}

function powerOf(state: PartStatus['state']): 'on' | 'off' | null {
  switch (state) {
    case 'running':
    case 'degraded':
    case 'draining':
      return 'on';
    case 'stopped':
    case 'failed':
      return 'off';
    case 'disabled':
      return null;
  }
}

const withheld = 'The cause is shown to those who may operate it';

/** What an upstream said may name an address with a key in its query, which is not for everybody (as in `connections`). */
function seesDetail({ domain }: Part, caller: Pick<Caller, 'can'>): boolean {
  return domain === undefined || caller.can(`${domain}:operate`);
}

function sealed(part: Part, caller: Pick<Caller, 'can'>, status: PartStatus): PartStatus {
  const { error, reason } = status;
  if (error === null || seesDetail(part, caller)) return status;
  return {
    ...status,
    error: { ...error, message: withheld },
    reason: reason?.code === error.code ? { ...reason, message: withheld } : reason,
  };
}

function healthFor(part: Part, caller: Pick<Caller, 'can'>, health: Health): Health {
  if (seesDetail(part, caller)) return health;
  const checks = health.checks.map((check) =>
    check.status === 'fail' ? { ...check, output: withheld } : check,
  );
  return { ...health, checks };
}
