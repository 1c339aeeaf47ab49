import { compile } from '../events/cesql/cesql.ts';
import { type EventName, eventTypes, typeOf } from '../events/types/catalogue.ts';
import { GatewayError } from '../lib/error.ts';

/** What an alert sends by default: events that need a person. */
export const defaultEvents: readonly string[] = [
  'budget.threshold',
  'budget.exceeded',
  'provider.down',
  'provider.recovered',
  'backup.failed',
  'config.rejected',
  'event.deadlettered',
  'event.dropped',
  'trigger.paused',
  'channel.degraded',
  'store.degraded',
  'store.recovered',
  'limits.degraded',
  'limits.recovered',
];

/** Those of the alerts themselves reach an alert anyhow. */
const selectable = (Object.keys(eventTypes) as EventName[]).filter((name) => !name.startsWith('alert.'));

/** The names of events that patterns stand for. @throws GatewayError `invalid_request` for one that stands for none */
export function namesOf(patterns: readonly string[]): EventName[] {
  const matchingTypes = patterns.flatMap((pattern) => {
    const start = pattern.endsWith('*') ? pattern.slice(0, -1) : null;
    const names = selectable.filter((name) => (start === null ? name === pattern : name.startsWith(start)));
    if (names.length > 0) return names;
    const message = `on: there is no event "${pattern.slice(0, 100)}"; \`gateway events types\` lists them`;
    throw new GatewayError('invalid_request', message, { param: 'on' });
  });
  return [...new Set(matchingTypes)];
}

/** @throws GatewayError `invalid_request` for what is no expression of CESQL, or calls functions that there are not */
export function checkCondition(where: string | null): void {
  if (where === null) return;
  const compiled = compile(where);
  const unknown = compiled.ok
    ? compiled.expression.warnings.find(({ code }) => code === 'unknown-function')
    : compiled.error;
  if (unknown === undefined) return;
  const { message, position } = unknown;
  throw new GatewayError(
    'invalid_request',
    `where: ${message} (line ${position.line}, column ${position.column})`,
    { param: 'where' },
  );
}

interface Selection {
  readonly id: string;
  readonly on: readonly string[];
  readonly where: string | null;
}

/** The expression of CESQL that selects the events of an alert, and those that are meant for it alone. */
export function filterOf({ id, on, where }: Selection): string {
  const types = namesOf(on).map((name) => `'${typeOf(name)}'`);
  const condition = `type IN (${types.join(', ')})`;
  const own = ['alert.digest', 'alert.test'] as const;
  const forIt = `type IN (${own.map((name) => `'${typeOf(name)}'`).join(', ')}) AND subject = '${id}'`;
  return `(${where === null ? condition : `(${condition}) AND (${where})`}) OR (${forIt})`;
}
