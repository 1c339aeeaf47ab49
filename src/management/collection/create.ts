import type { OutgoingHttpHeaders } from 'node:http';
import { atFault, isObject, type Members, validated } from '../../http/collection/input.ts';
import type { Resource } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { withAudit, withoutSecrets } from './audit.ts';
import { bulkResult, checkRate, declaredAttributes } from './change.ts';
import type { CollectionContext, CollectionRequest } from './collection.ts';
import type { Operation } from './operation.ts';
import { shownRow, visibleAttributes, visibleOutcome } from './shown.ts';

/**
 * Makes members. All inputs are looked at before the first is made; what fails after that is said in its place. What a
 * task makes is answered with 202 and where the task is.
 */
export async function createMembers(
  context: CollectionContext,
  request: CollectionRequest,
  { inputs, listed }: Operation & { kind: 'create' },
): Promise<Answer> {
  const { create, name } = request.resource;
  if (create === undefined)
    throw new GatewayError(
      'invalid_request',
      `"${name}" does not support POST: nothing can be created there`,
    );
  const valid = inputs.map((input, index) => {
    const at = listed ? `resources[${index}]` : '';
    for (const member of ['id', 'href']) {
      if (isObject(input) && Object.hasOwn(input, member) && !Object.hasOwn(create.input.shape, member))
        throw atFault(at === '' ? member : `${at}.${member}`, 'is given by the gateway');
    }
    return validated(create.input, input, at);
  });
  if (request.dryRun) {
    const message = `Would be made in "${name}": the input is valid, and you may`;
    return {
      status: 200,
      body: { results: valid.map(() => ({ success: true, message })) },
      headers: { 'x-dry-run': 'true' },
    };
  }
  const results: object[] = [];
  for (const input of valid) {
    const make = (): Promise<object> => createOne(context, request, create, input);
    results.push(listed && valid.length > 1 ? await bulkResult(context, make) : await make());
  }
  return { ...statusOf(results), body: { results } };
}

function statusOf(results: readonly object[]): { status: number; headers: OutgoingHttpHeaders } {
  const tasks = results.flatMap((result) => ('task_href' in result ? [String(result.task_href)] : []));
  const [only, ...others] = tasks;
  if (only === undefined) return { status: 200, headers: {} };
  return { status: 202, headers: others.length === 0 ? { location: only } : {} };
}

async function createOne(
  context: CollectionContext,
  request: CollectionRequest,
  create: NonNullable<Resource['create']>,
  input: Members,
): Promise<object> {
  checkRate(context, request, { ...create, name: 'create' });
  const facts = { action: 'create', target: null, input: withoutSecrets(create, input) };
  const { row, secret, taskId } = await withAudit(context, request, facts, async () => {
    const value = await create.run(input, request.caller);
    const after = value.taskId === undefined ? declaredAttributes(request.resource, value.row) : null;
    return { value, facts: { target: value.row.id, after, input: after === null ? facts.input : null } };
  });
  if (taskId === undefined) return { ...shownRow(request, row, visibleAttributes(request), null), ...secret };
  const message = `"${row.id}" is being made, and the task tells when it is done`;
  return { id: row.id, ...visibleOutcome(request, row.id, { success: true, message, taskId }) };
}
