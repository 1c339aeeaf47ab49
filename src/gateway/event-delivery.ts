import { type AuditLog, openAudit } from '../access/audit/audit.ts';
import { alertEngine } from '../alerts/engine.ts';
import { type Alerts, openAlerts } from '../alerts/open.ts';
import { readVariable } from '../config.ts';
import type { StorageKey } from '../connections/credentials/seal.ts';
import type { GatewayEvents } from '../events/emitters/gateway.ts';
import { type Events, openEvents } from '../events/open.ts';
import { builtInProcessor } from '../events/processors/built-in.ts';
import type { Listening } from '../http/outbound/outbound.ts';
import { describe } from '../lib/log.ts';
import type { Schedule } from '../lib/time/schedule.ts';
import type { Store } from '../store/database.ts';
import type { OpenInput } from './open-input.ts';

/** How much longer than another part the events may take to close: a trigger waits 29 seconds for what its receiver has. */
const EVENTS_EXTRA_MS = 15_000;

export interface EventDeliveryInput extends Pick<OpenInput, 'config' | 'log' | 'onClose'> {
  store: Store;
  sealing: StorageKey;
  schedule: Schedule;
  listening: Listening;
  emitter: GatewayEvents['emitter'];
  /** Names this gateway in the `source` of its events. */
  instance: string;
}

/** What takes the gateway's own events: the audit log, the alerts, and the event engine, which runs both. */
export interface EventDelivery {
  audit: AuditLog;
  alerts: Alerts;
  events: Events;
}

export async function openEventDelivery(input: EventDeliveryInput): Promise<EventDelivery> {
  const { config, emitter, instance, listening, log, onClose, schedule, sealing, store } = input;
  const audit = openAudit({
    dataDir: config.dataDir,
    retentionMonths: config.auditMonths,
    now: Date.now,
    onError: (error) => log.error({ error: describe(error) }, 'the audit log failed'),
  });
  onClose('audit log', audit.close);
  const alerts = await openAlerts({
    store,
    sealingKey: sealing.key,
    commandsByApi: config.alertCommandsByApi,
    privateNetworks: config.privateEventTargets,
    smtp: config.smtp,
    dataDir: config.dataDir,
    path: readVariable('PATH'),
    instance,
    listening,
    log,
    now: Date.now,
  });
  const events = await openEvents({
    additions: alerts,
    privateNetworks: config.privateEventTargets,
    emitter,
    builtIn: (name) => builtInProcessor(name, { audit, log }) ?? alerts.processor(name),
    store,
    schedule,
    dataDir: config.dataDir,
    listening,
    log,
    now: Date.now,
    random: Math.random,
    redis: config.redis,
    eventStorage: config.eventStorage,
    fallbacks: config.eventFallbacks,
    sharedDatabase: config.sharedEventDatabase,
    variable: readVariable,
  });
  onClose('events', () => events.close(), EVENTS_EXTRA_MS);
  alerts.attach(alertEngine(events));
  return { audit, alerts, events };
}
