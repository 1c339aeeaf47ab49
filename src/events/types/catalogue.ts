import type { z } from 'zod';
import {
  backupData,
  budgetData,
  channelData,
  circuitData,
  comboData,
  configData,
  deadLetterData,
  detectedToolData,
  digestData,
  droppedData,
  exportData,
  keyData,
  providerData,
  prunedData,
  refusalData,
  requestData,
  revokedKeyData,
  sharedLimitsData,
  storeData,
  testData,
  toolData,
  triggerData,
} from './schema.ts';

/** A kind of event that the gateway itself emits. */
export interface EventType {
  /** The last part of the event's `source`. */
  readonly area: string;
  readonly when: string;
  /** What `subject` names, for the documentation. */
  readonly subject: string;
  /** What `partitionkey` names. */
  readonly partitionKey: string;
  /** One for every request: emitted only where somebody wants it. All else is rare and worth a place on the disk. */
  readonly telemetry: boolean;
  readonly data: z.ZodObject;
}

interface Row<Data extends z.ZodObject> extends Omit<EventType, 'telemetry' | 'data'> {
  readonly telemetry?: boolean;
  readonly data: Data;
}

const type = <Data extends z.ZodObject>({ telemetry = false, ...row }: Row<Data>) => ({ telemetry, ...row });

const ofRequest = {
  area: 'requests',
  subject: 'the id of the request',
  partitionKey: 'the id of the key',
  telemetry: true,
  data: requestData,
};
const ofBudget = {
  area: 'budgets',
  subject: 'the id of the budget',
  partitionKey: 'the id of the budget',
  data: budgetData,
};
const ofProvider = {
  area: 'providers',
  subject: 'the id of the connection',
  partitionKey: 'the id of the connection',
  data: providerData,
};
const ofCircuit = {
  area: 'circuits',
  subject: 'what the breaker protects',
  partitionKey: 'the same',
  data: circuitData,
};
const ofKey = { area: 'keys', subject: 'the id of the key', partitionKey: 'the id of the key' };
const ofBackup = {
  area: 'backups',
  subject: 'the name of the backup',
  partitionKey: 'the same',
  data: backupData,
};
const ofConfig = { area: 'events', subject: 'none', partitionKey: 'none', data: configData };
const ofTrigger = { area: 'events', subject: 'the id of the trigger', partitionKey: 'the same' };
const ofChannel = {
  area: 'events',
  subject: 'the id of the channel',
  partitionKey: 'the same',
  data: channelData,
};
const ofStore = { area: 'store', subject: 'none', partitionKey: 'none', data: storeData };
const ofSharedLimits = { area: 'budgets', subject: 'none', partitionKey: 'none', data: sharedLimitsData };
const ofAlert = { area: 'alerts', subject: 'the id of the alert', partitionKey: 'the same' };

/** Every event of the gateway itself, by its name. The type of an event is `io.modelgate.NAME.v1`. */
export const eventTypes = {
  'request.completed': type({ ...ofRequest, when: 'A model request was answered' }),
  'request.failed': type({ ...ofRequest, when: 'A model request failed, or its client disconnected' }),
  'budget.threshold': type({
    ...ofBudget,
    when: 'A budget reached its warning threshold, once per window',
  }),
  'budget.exceeded': type({ ...ofBudget, when: 'A budget was used up, once per window' }),
  'provider.down': type({
    ...ofProvider,
    when: 'A connection no longer answers any request',
  }),
  'provider.ratelimited': type({
    ...ofProvider,
    when: 'A connection, or one model at it, is over its rate limit or out of quota',
  }),
  'provider.recovered': type({
    ...ofProvider,
    when: 'A connection that was down or rate-limited answers again',
  }),
  'circuit.opened': type({
    ...ofCircuit,
    when: 'Requests to a model at a connection pause after failures, or a circuit breaker of a source or trigger opened',
  }),
  'circuit.closed': type({ ...ofCircuit, when: 'The pause is over, or the circuit breaker closed' }),
  'key.created': type({ ...ofKey, data: keyData, when: 'A gateway key was created, or enabled again' }),
  'key.revoked': type({ ...ofKey, data: revokedKeyData, when: 'A gateway key was removed or disabled' }),
  'key.rotated': type({
    ...ofKey,
    data: keyData,
    when: 'A gateway key was replaced by a new one with the same name and limits',
  }),
  'combo.switched': type({
    area: 'combos',
    subject: 'the id of the combo',
    partitionKey: 'the same',
    data: comboData,
    when: 'The model `auto` now stands for another combo',
  }),
  'tool.detected': type({
    area: 'tools',
    subject: 'the id of the tool',
    partitionKey: 'the same',
    data: detectedToolData,
    when: 'A coding tool was found on this machine for the first time since the gateway started',
  }),
  'tool.configured': type({
    area: 'tools',
    subject: 'the id of the tool',
    partitionKey: 'the same',
    data: toolData,
    when: 'A coding tool was pointed at this gateway',
  }),
  'auth.exported': type({
    area: 'auth',
    subject: 'none',
    partitionKey: 'none',
    data: exportData,
    when: 'The credentials of the providers are about to be printed in plain text (`gateway auth export`)',
  }),
  'auth.refused': type({
    area: 'auth',
    subject: 'the address of the client',
    partitionKey: 'the same',
    data: refusalData,
    when: 'The management API refused a login or a token',
  }),
  'backup.completed': type({ ...ofBackup, when: 'A backup was made' }),
  'backup.failed': type({ ...ofBackup, when: 'A backup could not be made' }),
  'ledger.pruned': type({
    area: 'ledger',
    subject: 'none',
    partitionKey: 'none',
    data: prunedData,
    when: 'Requests were removed from the ledger because of their age',
  }),
  'config.applied': type({ ...ofConfig, when: 'A new configuration of events is in force' }),
  'config.rejected': type({
    ...ofConfig,
    when: 'A configuration of events is invalid, and the previous one stays in force',
  }),
  'event.dropped': type({
    area: 'events',
    subject: 'the id of the source or trigger',
    partitionKey: 'the same',
    data: droppedData,
    when: 'Events were dropped because a queue or storage is full, or because a trigger without dead letters gave up. Reported at once for the first, then at most once a minute per source or trigger, with the count',
  }),
  'event.deadlettered': type({ ...ofTrigger, data: deadLetterData, when: 'An event became a dead letter' }),
  'trigger.paused': type({ ...ofTrigger, data: triggerData, when: 'A trigger paused' }),
  'trigger.resumed': type({ ...ofTrigger, data: triggerData, when: 'A paused trigger continues' }),
  'channel.degraded': type({
    ...ofChannel,
    when: 'A channel is connected, but one of its background tasks fails',
  }),
  'channel.recovered': type({ ...ofChannel, when: 'The background task of the channel works again' }),
  'store.degraded': type({
    ...ofStore,
    when: 'The PostgreSQL server cannot be used. Requests continue with the settings in memory, and their records wait',
  }),
  'store.recovered': type({ ...ofStore, when: 'The PostgreSQL server can be used again' }),
  'limits.degraded': type({
    ...ofSharedLimits,
    when: 'Redis does not answer in time, so gateways do not share their counts',
  }),
  'limits.recovered': type({ ...ofSharedLimits, when: 'Redis answers in time again' }),
  'alert.digest': type({
    ...ofAlert,
    data: digestData,
    when: 'The interval of a digest ended, and there were more events than the first',
  }),
  'alert.test': type({ ...ofAlert, data: testData, when: 'Somebody tested an alert' }),
} as const satisfies Record<string, EventType>;

export type EventName = keyof typeof eventTypes;

/** The data of an event of a name. */
export type EventData<Name extends EventName> = z.infer<(typeof eventTypes)[Name]['data']>;

export function isEventName(text: string): text is EventName {
  return Object.hasOwn(eventTypes, text);
}

const PREFIX = 'io.modelgate.';
const VERSION = '.v1';

/** The `type` of events of a name. */
export function typeOf(name: EventName): string {
  return `${PREFIX}${name}${VERSION}`;
}

/** The name that a `type` stands for; null when it is none of the gateway's own. */
export function nameOfType(type: string): EventName | null {
  const name =
    type.startsWith(PREFIX) && type.endsWith(VERSION) ? type.slice(PREFIX.length, -VERSION.length) : '';
  return isEventName(name) ? name : null;
}

/** The `dataschema` of events of a name: the `$id` of the schema that `GET /api/events/schemas/TYPE` gives. */
export function schemaId(name: EventName): string {
  return `urn:modelgate:schema:${typeOf(name)}`;
}
