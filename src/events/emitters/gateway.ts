import { auditFolder } from '../../access/audit/files.ts';
import { followAudit } from '../../access/audit/follow.ts';
import type { EndedWork } from '../../backup/work.ts';
import type { BudgetEvent } from '../../budgets/reservation.ts';
import type { StoredHealthState } from '../../health/account.ts';
import type { LedgerEntry } from '../../ledger/schema.ts';
import { describe, type Log } from '../../lib/log.ts';
import type { Schedule } from '../../lib/time/schedule.ts';
import type { Snapshot } from '../../snapshot.ts';
import type { CloudEvent } from '../cloudevents/event.ts';
import type { EventName } from '../types/catalogue.ts';
import { createEmitter, type Emitter } from '../types/emitter.ts';
import { createAuditEvents } from './audit.ts';
import { emitBackup } from './backup.ts';
import { emitBudget } from './budget.ts';
import { createHealthEvents, type NamedConnection } from './health.ts';
import { createOutageEvents, type OutageEvents } from './outages.ts';
import { emitRequest } from './request.ts';
import { emitSettings } from './settings.ts';
import { createToolEvents, type DetectedTool } from './tools.ts';

/** What publishes the events: the event engine, once it is open. */
export interface EventSink {
  accepts(name: EventName): boolean;
  emit(event: CloudEvent): void;
}

/** The parts of the gateway call these when something happens. No call waits for anything or throws. */
export interface GatewayEvents extends Pick<OutageEvents, 'storeChanged' | 'sharingChanged'> {
  emitter: Emitter;
  /** @param entryOf gives what the ledger has of a request; called only if anybody wants its event */
  requestFinished(entryOf: () => LedgerEntry, traceparent: string | null): void;
  budgetReached(event: BudgetEvent): void;
  healthChanged(changed: StoredHealthState): void;
  settingsChanged(before: Snapshot, after: Snapshot): void;
  backupEnded(work: EndedWork): void;
  toolsFound(tools: readonly DetectedTool[]): void;
  /** Takes note of what was wrong already when the gateway started. */
  rememberHealth(kept: readonly StoredHealthState[]): void;
  /** From now on events go to the sink; before that they go nowhere. */
  attach(sink: EventSink): void;
  /** Follows the audit log from its end on. */
  followAudit(dataDir: string, schedule: Schedule): Promise<void>;
}

export interface GatewayEventsInput {
  /** Names this gateway in the `source` of its events. */
  instance: string;
  connectionOf: NamedConnection;
  log: Log;
  /** Milliseconds since the epoch. */
  now(): number;
}

/** How often the audit log is looked at. */
const AUDIT_MS = 1_000;

export function createGatewayEvents({ connectionOf, instance, log, now }: GatewayEventsInput): GatewayEvents {
  let sink: EventSink | null = null;
  const emitter = createEmitter({
    instance,
    now,
    wants: (name) => sink?.accepts(name) === true,
    send: (event) => sink?.emit(event),
    onDropped: (dropped, error) => log.error({ dropped, error: describe(error) }, 'events are dropped'),
  });
  const health = createHealthEvents(emitter, connectionOf);
  const outages = createOutageEvents(emitter);
  return {
    emitter,
    storeChanged: outages.storeChanged,
    sharingChanged: outages.sharingChanged,
    requestFinished: (entryOf, traceparent) => emitRequest(emitter, entryOf, traceparent),
    budgetReached: (event) => emitBudget(emitter, event),
    healthChanged: health.changed,
    settingsChanged: (before, after) => emitSettings(emitter, before, after),
    backupEnded: (work) => emitBackup(emitter, work),
    toolsFound: createToolEvents(emitter),
    rememberHealth: health.remember,
    attach(next) {
      sink = next;
      outages.tellAgain();
    },
    async followAudit(dataDir, schedule) {
      const take = createAuditEvents(emitter);
      const read = await followAudit(auditFolder(dataDir));
      schedule.every({
        name: 'events of the audit log',
        everyMs: AUDIT_MS,
        run: async () => take(await read()),
        onError: (error) => log.error({ error: describe(error) }, 'the audit log cannot be read for events'),
      });
    },
  };
}
