import type { CloudEvent } from '../events/cloudevents/event.ts';
import { type EventData, type EventName, eventTypes, nameOfType } from '../events/types/catalogue.ts';

/** An event in words, for people. */
export interface AlertMessage {
  /** One short line. */
  readonly title: string;
  readonly facts: readonly (readonly [label: string, value: string])[];
}

type TitleWriters = { readonly [Name in EventName]?: (data: EventData<Name>) => string };

const budgetOf = ({ metric, period, scope, subject_id, subject_name }: EventData<'budget.threshold'>) =>
  `${metric} budget${period === null ? '' : ` per ${period}`} of ${
    scope === 'global' ? 'all requests' : `the ${scope} "${subject_name ?? subject_id}"`
  }`;

const providerOf = ({ connection, connection_id, model }: EventData<'provider.down'>) =>
  `${connection ?? connection_id}${model === null ? '' : ` (${model})`}`;

/** Titles that say more than the catalogue does. */
const titles: TitleWriters = {
  'request.completed': ({ model, requested_model }) =>
    `A request to ${model ?? requested_model} was answered`,
  'request.failed': ({ error_code, model, requested_model, status }) =>
    `A request to ${model ?? requested_model ?? 'a model'} failed: ${error_code ?? status}`,
  'budget.threshold': (data) => `${data.percent} % of the ${budgetOf(data)} is used`,
  'budget.exceeded': (data) => `The ${budgetOf(data)} is used up`,
  'provider.down': (data) => `${providerOf(data)} is down: ${data.reason}`,
  'provider.ratelimited': (data) => `${providerOf(data)} is limited: ${data.reason}`,
  'provider.recovered': (data) => `${providerOf(data)} answers again`,
  'circuit.opened': ({ name, reason }) => `Nothing is sent to ${name} for now: ${reason}`,
  'circuit.closed': ({ name }) => `${name} is used again`,
  'key.created': ({ name }) => `The key "${name}" was created`,
  'key.revoked': ({ name, reason }) => `The key "${name}" was ${reason}`,
  'key.rotated': ({ name }) => `The key "${name}" was rotated`,
  'combo.switched': ({ name }) => (name === null ? 'No combo is active' : `The combo "${name}" is active`),
  'tool.detected': ({ tool }) => `The tool ${tool} was found`,
  'tool.configured': ({ tool }) => `The tool ${tool} was pointed at the gateway`,
  'auth.exported': ({ by }) => `Credentials are exported in plain text by ${by.name ?? by.via}`,
  'auth.refused': ({ address, reason }) => `A login from ${address} was refused: ${reason}`,
  'ledger.pruned': ({ before, requests }) =>
    `${requests} requests from before ${before.slice(0, 10)} were removed`,
  'backup.completed': ({ name }) => `The backup ${name ?? ''} was made`.replace('  ', ' '),
  'backup.failed': ({ name, reason }) => `The backup ${name ?? ''} failed: ${reason}`.replace('  ', ' '),
  'event.dropped': ({ count, where }) => `${count} events of ${where} were dropped`,
  'event.deadlettered': ({ trigger, reason }) => `An event for ${trigger} is a dead letter: ${reason}`,
  'trigger.paused': ({ trigger, reason }) => `The trigger ${trigger} is paused: ${reason}`,
  'channel.degraded': ({ channel, task }) => `The channel ${channel} is degraded: ${task} fails`,
  'channel.recovered': ({ channel, task }) => `The channel ${channel} works again: ${task}`,
  'store.degraded': ({ reason }) => `The database is away: ${reason}`,
  'store.recovered': ({ rows_waiting }) =>
    `The database answers again, and ${rows_waiting} records are on their way`,
  'limits.degraded': ({ reason }) => `Limits are not shared among gateways: ${reason}`,
  'limits.recovered': () => 'Limits are shared among gateways again',
  'trigger.resumed': ({ trigger }) => `The trigger ${trigger} runs again`,
  'alert.digest': ({ alert, count }) =>
    `${count} more ${count === 1 ? 'event' : 'events'} for the alert "${alert}"`,
};

const LONGEST_FACT = 500;

/** An event of the gateway in plain words; any other one by its attributes. */
export function messageOf({ attributes, data }: CloudEvent): AlertMessage {
  const name = nameOfType(attributes.type);
  const fields = fieldsOf(data);
  const at: [string, string][] = attributes.time === undefined ? [] : [['Time', attributes.time]];
  if (name === null) {
    const subject: [string, string][] =
      attributes.subject === undefined ? [] : [['Subject', attributes.subject]];
    return { title: attributes.type, facts: [['Source', attributes.source], ...subject, ...at] };
  }
  if (name === 'alert.digest') return digestMessage(fields as EventData<'alert.digest'>);
  if (name === 'alert.test') return { title: (fields as EventData<'alert.test'>).text, facts: at };
  const title = titles[name] as ((data: object) => string) | undefined;
  const facts = Object.entries(fields).flatMap(([field, value]) => factOf(field, value));
  return { title: title?.(fields) ?? eventTypes[name].when, facts: [...facts, ...at, ['Event', name]] };
}

function digestMessage(data: EventData<'alert.digest'>): AlertMessage {
  const groups = data.groups.map(({ count, last, subject, type }): [string, string] => [
    `${count} × ${nameOfType(type) ?? type}`,
    `${subject ?? ''}${subject === null ? '' : ', '}last at ${last}`,
  ]);
  const rest: [string, string][] = data.more_groups === 0 ? [] : [['And', `${data.more_groups} more kinds`]];
  return {
    title: titles['alert.digest']?.(data) ?? '',
    facts: [...groups, ...rest, ['From', data.since], ['To', data.until]],
  };
}

function fieldsOf(data: Uint8Array | null): object {
  try {
    const value: unknown = JSON.parse(Buffer.from(data ?? []).toString('utf8'));
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}

function factOf(field: string, value: unknown): [string, string][] {
  if (value === null || (Array.isArray(value) && value.length === 0)) return [];
  const label = field.charAt(0).toUpperCase() + field.slice(1).replaceAll('_', ' ');
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return [[label, text.length > LONGEST_FACT ? `${text.slice(0, LONGEST_FACT - 1)}…` : text]];
}

/** The message as plain text. */
export function plainText({ facts, title }: AlertMessage): string {
  return [title, '', ...facts.map(([label, value]) => `${label}: ${value}`)].join('\n');
}
