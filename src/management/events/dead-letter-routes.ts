import { type CompiledExpression, compile } from '../../events/cesql/cesql.ts';
import { encodeJsonEvent } from '../../events/cloudevents/json-format.ts';
import type { DeadLetter } from '../../events/dead-letters/dead-letter.ts';
import type { DeadLetters, LetterSelection } from '../../events/dead-letters/store.ts';
import { validated } from '../../http/collection/input.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { withAudit } from '../collection/audit.ts';
import { checkAccept } from '../guard/origin.ts';
import { changeFailures, failures, json } from '../openapi/fixed.ts';
import { schemaOf } from '../openapi/paths.ts';
import { jsonOf } from '../request-body.ts';
import { deadLetterRecord, deadLettersRecord, letterCount, letterSelection } from './dead-letter-schema.ts';
import type { EventsCall, EventsRoute } from './route.ts';

const PAGE = 100;
const MOST_IN_PAGE = 1_000;

const dryRun = {
  name: 'dry_run',
  description: '`true` changes nothing and shows how many dead letters are selected',
};
const counted = () => ({
  200: { description: 'The number of dead letters', content: json(schemaOf(letterCount, 'output')) },
  ...changeFailures,
});
const selection = () => ({ required: true, content: json(schemaOf(letterSelection, 'input')) });

export const deadLetterRoutes: readonly EventsRoute[] = [
  {
    method: 'GET',
    path: '/dead-letters',
    permission: 'events:inspect',
    parameters: [
      { name: 'trigger', description: 'Of this trigger only' },
      {
        name: 'cesql',
        description:
          'Only those that match this CESQL expression, which can use `dlreason`, `dlstatus` and the like',
      },
      { name: 'after', description: 'Only those after this one: `next` of the previous page' },
      {
        name: 'limit',
        description: `The most dead letters on the page: ${PAGE} by default, ${MOST_IN_PAGE} at most`,
      },
    ],
    operation: () => ({
      operationId: 'list_dead_letters',
      summary: 'Events that a trigger gave up, oldest first, without their data',
      responses: {
        200: { description: 'A page', content: json(schemaOf(deadLettersRecord, 'output')) },
        ...failures,
      },
    }),
    run: list,
  },
  {
    method: 'GET',
    path: '/dead-letters/{id}',
    permission: 'events:inspect',
    parameters: [],
    operation: () => ({
      operationId: 'get_dead_letter',
      summary: 'A dead letter with its whole event',
      responses: {
        200: { description: 'The dead letter', content: json(schemaOf(deadLetterRecord, 'output')) },
        ...failures,
      },
    }),
    run: show,
  },
  {
    method: 'POST',
    path: '/dead-letters/{id}:replay',
    permission: 'events:operate',
    parameters: [dryRun],
    once: true,
    operation: () => ({
      operationId: 'replay_dead_letter',
      summary: 'Give a dead letter to its trigger again, as a first attempt',
      responses: counted(),
    }),
    run: (call) => ofOne(call, 'replay', (letters, id) => letters.replay([id])),
  },
  {
    method: 'DELETE',
    path: '/dead-letters/{id}',
    permission: 'events:operate',
    parameters: [dryRun],
    operation: () => ({
      operationId: 'remove_dead_letter',
      summary: 'Delete a dead letter',
      responses: counted(),
    }),
    run: (call) => ofOne(call, 'remove', (letters, id) => letters.remove([id])),
  },
  {
    method: 'POST',
    path: '/dead-letters:replay',
    permission: 'events:operate',
    parameters: [dryRun],
    once: true,
    operation: () => ({
      operationId: 'replay_dead_letters',
      summary:
        'Give dead letters to their triggers again: those with `ids`, or all that `trigger` and `cesql` select',
      requestBody: selection(),
      responses: counted(),
    }),
    run: (call) =>
      ofSelection(call, 'replay', {
        byId: (letters, ids) => letters.replay(ids),
        all: (letters, chosen) => letters.replayAll(chosen),
      }),
  },
  {
    method: 'POST',
    path: '/dead-letters:purge',
    permission: 'events:operate',
    parameters: [dryRun],
    once: true,
    operation: () => ({
      operationId: 'purge_dead_letters',
      summary: 'Delete dead letters: those with `ids`, or all that `trigger` and `cesql` select',
      requestBody: selection(),
      responses: counted(),
    }),
    run: (call) =>
      ofSelection(call, 'purge', {
        byId: (letters, ids) => letters.remove(ids),
        all: (letters, chosen) => letters.purge(chosen),
      }),
  },
];

async function lettersOf({ events }: EventsCall): Promise<DeadLetters> {
  return (await events.control()).engine.deadLetters;
}

async function list(call: EventsCall): Promise<Answer> {
  const { exchange, params } = call;
  checkAccept(exchange.request);
  const trigger = params.get('trigger');
  const cesql = params.get('cesql');
  const filter = cesql === null ? null : filterOf(cesql);
  const limit = limitOf(params.get('limit'));
  const letters = await lettersOf(call);
  const page = await letters.list({ trigger, filter, after: params.get('after'), limit });
  const counts = (await letters.counts()).filter((one) => trigger === null || one.trigger === trigger);
  const resources = page.letters.map((letter) => recordOf(letter, false));
  const body = {
    name: 'dead-letters',
    count: counts.reduce((sum, { count }) => sum + count, 0),
    subcount: resources.length,
    resources,
    next: page.next,
  };
  return { status: 200, body, headers: {} };
}

async function show(call: EventsCall): Promise<Answer> {
  checkAccept(call.exchange.request);
  const letter = await existingLetter(await lettersOf(call), call.id);
  return { status: 200, body: recordOf(letter, true), headers: {} };
}

async function ofOne(
  call: EventsCall,
  action: 'replay' | 'remove',
  run: (letters: DeadLetters, id: string) => Promise<number>,
): Promise<Answer> {
  checkAccept(call.exchange.request);
  const letters = await lettersOf(call);
  const { id, trigger } = await existingLetter(letters, call.id);
  if (isDryRun(call)) return answered(1, true);
  return changed(call, action, id, { trigger }, () => run(letters, id));
}

async function ofSelection(
  call: EventsCall,
  action: 'replay' | 'purge',
  run: {
    byId(letters: DeadLetters, ids: readonly string[]): Promise<number>;
    all(letters: DeadLetters, chosen: LetterSelection): Promise<number>;
  },
): Promise<Answer> {
  checkAccept(call.exchange.request);
  const input = letterSelection.parse(validated(letterSelection, jsonOf(call.body) ?? {}));
  const { all = false, cesql, ids, trigger } = input;
  if (ids === undefined && cesql === undefined && trigger === undefined && !all)
    throw wrong('ids', 'Name "ids", "trigger" or "cesql", or say "all": true');
  if (ids !== undefined && (cesql !== undefined || trigger !== undefined || all))
    throw wrong('ids', '"ids" goes without the others');
  const chosen = { trigger: trigger ?? null, filter: cesql === undefined ? null : filterOf(cesql) };
  const letters = await lettersOf(call);
  if (isDryRun(call)) return answered(await countOf(letters, ids, chosen), true);
  return changed(call, action, null, input, () =>
    ids === undefined ? run.all(letters, chosen) : run.byId(letters, ids),
  );
}

async function changed(
  { caller, context }: EventsCall,
  action: string,
  target: string | null,
  input: Record<string, unknown>,
  run: () => Promise<number>,
): Promise<Answer> {
  return withAudit(
    { record: (change) => context.audit({ kind: 'change', change }) },
    { caller, resource: { name: 'events' } },
    { action: `${action}_dead_letters`, target, input },
    async () => {
      const count = await run();
      return { value: answered(count, false), facts: { after: { count } } };
    },
  );
}

async function countOf(
  letters: DeadLetters,
  ids: readonly string[] | undefined,
  chosen: LetterSelection,
): Promise<number> {
  if (ids !== undefined)
    return (await Promise.all(ids.map(letters.get))).filter((one) => one !== null).length;
  let count = 0;
  let after: string | null = null;
  do {
    const page = await letters.list({ ...chosen, after, limit: MOST_IN_PAGE });
    count += page.letters.length;
    after = page.next;
  } while (after !== null);
  return count;
}

async function existingLetter(letters: DeadLetters, id: string): Promise<DeadLetter> {
  const letter = await letters.get(id);
  if (letter !== null) return letter;
  throw new GatewayError('not_found', `There is no dead letter "${id.slice(0, 40)}"`);
}

function recordOf({ at, event, ...letter }: DeadLetter, whole: boolean) {
  const shown =
    event === null
      ? null
      : whole
        ? JSON.parse(Buffer.from(encodeJsonEvent(event)).toString())
        : event.attributes;
  return {
    id: letter.id,
    trigger: letter.trigger,
    channel: letter.channel,
    reason: letter.reason,
    attempts: letter.attempts,
    status: letter.status,
    error: letter.error,
    created_at: new Date(at).toISOString(),
    failures: letter.failures.map(({ at: time, attempt, error, status }) => ({
      attempt,
      time: new Date(time).toISOString(),
      status,
      error,
    })),
    event: shown,
  };
}

/** @throws GatewayError for what is no expression */
export function filterOf(cesql: string): CompiledExpression {
  const compiled = compile(cesql);
  if (compiled.ok) return compiled.expression;
  const { message, position } = compiled.error;
  throw wrong('cesql', `"cesql": ${message} (line ${position.line}, column ${position.column})`);
}

function limitOf(text: string | null): number {
  if (text === null) return PAGE;
  const limit = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (limit === 0) throw wrong('limit', '"limit" is a whole number of at least 1');
  return Math.min(limit, MOST_IN_PAGE);
}

const isDryRun = ({ params }: EventsCall): boolean => params.get('dry_run') === 'true';
const answered = (count: number, dry: boolean): Answer => ({
  status: 200,
  body: { count, dry_run: dry },
  headers: {},
});
const wrong = (param: string, message: string) => new GatewayError('invalid_request', message, { param });
