import { openAccessControl } from '../access/access-control.ts';
import { scheduleBackups } from '../backup/scheduled.ts';
import { openLogins } from '../connections/open.ts';
import type { GatewayEvents } from '../events/emitters/gateway.ts';
import { logFailure } from '../lib/failure-log.ts';
import { createSteadyClock } from '../lib/time/clock.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import { createIdempotencyStore } from '../management/guard/idempotency.ts';
import { lateManagement } from '../management/late.ts';
import type { Management } from '../management/open.ts';
import { openCliTools } from '../management/open-cli-tools.ts';
import type { ManagementApiInput } from '../management-api.ts';
import type { OpenInput } from './open-input.ts';
import { nameOfKey } from './snapshot-lookups.ts';

/** The parts that the management API shows and changes, without those that are opened here. */
export type ManagementParts = Omit<
  ManagementApiInput,
  | 'accessControl'
  | 'cliTools'
  | 'config'
  | 'idempotency'
  | 'log'
  | 'logins'
  | 'nameOfKey'
  | 'processControl'
  | 'version'
> & { gatewayEvents: GatewayEvents; schedule: Schedule };

export interface OpenedManagement {
  management: Management;
  /** Makes the first admin; null once there is one. */
  setupCode: string | null;
}

/** Who may use the management API and what runs beside it; the API itself is loaded with its first request. */
export async function openManagementParts(
  input: Pick<OpenInput, 'config' | 'log' | 'onClose' | 'processControl' | 'version'>,
  parts: ManagementParts,
): Promise<OpenedManagement> {
  const { config, log, onClose, processControl, version } = input;
  const { audit, context, gatewayEvents, report, schedule, sealing, services, snapshots } = parts;
  const { store, stored } = parts;
  const taskFailed = (error: unknown, task: string) =>
    logFailure(log, error, 'a periodic task failed', { task });
  schedule.every({ name: 'old audit records', everyMs: 3_600_000, run: audit.retain, onError: taskFailed });
  const accessControl = await openAccessControl({
    store,
    dataDir: config.dataDir,
    settings: config.api,
    ownerKey: context.owner.key,
    now: context.now,
    steady: createSteadyClock(),
    onError: report,
    schedule,
  });
  onClose('logins and tokens', () => accessControl.close());
  const endScheduled = scheduleBackups(schedule, config.backups, {
    dataDir: config.dataDir,
    server: store.kind === 'postgres' && config.database !== null ? { url: config.database, store } : null,
    storageKey: sealing,
    version,
    now: context.now,
    log,
  });
  onClose('scheduled backups', endScheduled);
  const { close, ...logins } = openLogins({
    store,
    sealingKey: sealing.key,
    schedule,
    tasks: services.tasks,
    now: context.now,
    listening: parts.listening,
    reload: snapshots.reload,
  });
  onClose('logins at providers', close);
  const idempotency = createIdempotencyStore({ store, storageKey: sealing, now: context.now });
  schedule.every({ name: 'kept answers', everyMs: 3_600_000, run: idempotency.sweep, onError: taskFailed });
  const cliTools = openCliTools({
    config,
    store,
    keys: stored.keys,
    hosts: context.hosts,
    listening: parts.listening,
    schedule,
    log,
    now: context.now,
    onStatuses: gatewayEvents.toolsFound,
  });
  const management = lateManagement(async () => {
    const { openManagementApi } = await import('../management-api.ts');
    return openManagementApi({
      ...parts,
      accessControl,
      cliTools,
      config,
      idempotency,
      log,
      logins,
      nameOfKey,
      processControl,
      version,
    });
  }, report);
  onClose('management API', management.close);
  return { management, setupCode: accessControl.offer()?.code ?? null };
}
