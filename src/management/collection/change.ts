import { isDeepStrictEqual } from 'node:util';
import { membersOfEdits } from '../../http/collection/edits.ts';
import { checkIfMatch } from '../../http/collection/etag.ts';
import { atFault, isObject, type Members, validated } from '../../http/collection/input.ts';
import type { Action, Outcome, Resource, Row } from '../../http/resource.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { changedAttributes, masked, withAudit, withoutSecrets } from './audit.ts';
import type { CollectionContext, CollectionRequest } from './collection.ts';
import type { Operation } from './operation.ts';
import { memberOf, tagOf } from './read.ts';
import { hrefOf, idOf, shownRow, visibleAttributes, visibleOutcome } from './shown.ts';

type OperationOf<Kind extends Operation['kind']> = Operation & { kind: Kind };

const dryRunHeaders = { 'x-dry-run': 'true' };

/** Changes a member; the answer is what it is now. */
export async function updateMember(
  context: CollectionContext,
  request: CollectionRequest,
  { id, input }: OperationOf<'update'>,
): Promise<Answer> {
  return withMemberLock(context, request, id, async (row) => {
    const { dryRun, headers, resource } = request;
    checkIfMatch(headers['if-match'], row, resource.revisionOf?.(row) ?? null);
    const members = changesOf(request, row, input);
    if (dryRun) return { status: 200, body: previewChange(request, row, members), headers: dryRunHeaders };
    const after = await updateOne(context, request, row, members);
    const body = shownRow(request, after, visibleAttributes(request), null);
    return { status: 200, body, headers: { etag: tagOf(request, after, body) } };
  });
}

/**
 * Runs with the member as it is, while no other request changes it: what `If-Match` was compared with is what is
 * changed. Other processes change no members, they make and remove them.
 */
export async function withMemberLock<T>(
  { mutex }: CollectionContext,
  request: CollectionRequest,
  id: string,
  run: (row: Row) => Promise<T>,
): Promise<T> {
  const named = await memberOf(request, id);
  return mutex.runExclusive(`${request.resource.name}/${named.id}`, async () =>
    run(await memberOf(request, named.id)),
  );
}

export async function updateOne(
  context: CollectionContext,
  request: CollectionRequest,
  row: Row,
  members: Members,
): Promise<Row> {
  const { caller, resource } = request;
  const { update } = resource;
  if (update === undefined)
    throw new GatewayError('invalid_request', `Members of "${resource.name}" cannot be changed`);
  const facts = { action: 'edit', target: row.id, input: withoutSecrets(update, members) };
  return withAudit(context, request, facts, async () => {
    const value = await update.run(row, members, caller);
    const sides = changedAttributes(declaredAttributes(resource, row), declaredAttributes(resource, value));
    return { value, facts: sides };
  });
}

/**
 * What an input changes, as the schema of the resource has it. Members that are sent back as they are change nothing
 * and may stand in it, so that what was read can be sent back with a change.
 * @throws GatewayError `invalid_request`
 */
export function changesOf(request: CollectionRequest, row: Row, input: unknown, at = ''): Members {
  const { resource } = request;
  const schema = resource.update?.input;
  if (schema === undefined)
    throw new GatewayError('invalid_request', `Members of "${resource.name}" cannot be changed`);
  const changes = Array.isArray(input) ? membersOfEdits(input, row) : input;
  if (!isObject(changes)) return validated(schema, changes, at);
  const visible = visibleAttributes(request);
  const entries = Object.entries(changes).filter(([name, value]) => {
    if (Object.hasOwn(schema.shape, name)) return true;
    if (name === 'href' && idOf(request, { href: value }) === row.id) return false;
    if (name === 'actions' && Array.isArray(value) && !visible.has(name)) return false;
    if (name !== 'id' && !visible.has(name)) return true;
    if (isDeepStrictEqual(value, row[name])) return false;
    throw atFault(at === '' ? name : `${at}.${name}`, 'cannot be changed');
  });
  return validated(schema, Object.fromEntries(entries), at);
}

/** What a change would come to, without secrets. */
export function previewChange(request: CollectionRequest, row: Row, members: Members): object {
  const visible = visibleAttributes(request);
  const visibleRow = Object.fromEntries(Object.entries(row).filter(([name]) => visible.has(name)));
  const sides = changedAttributes(visibleRow, { ...visibleRow, ...members });
  const [before, after] = [masked(sides.before), masked(sides.after)];
  const changes = Object.keys(after).map((name) => [name, { from: before[name] ?? null, to: after[name] }]);
  const names = Object.keys(after).join(', ');
  return {
    success: true,
    message: names === '' ? 'Nothing would be changed' : `Would be changed: ${names}`,
    href: hrefOf(request, row.id),
    changes: Object.fromEntries(changes),
  };
}

/** Removes a member. */
export async function removeMember(
  context: CollectionContext,
  request: CollectionRequest,
  { answered, id }: OperationOf<'remove'>,
): Promise<Answer> {
  return withMemberLock(context, request, id, async (row) => {
    const { dryRun, headers, resource } = request;
    checkIfMatch(headers['if-match'], row, resource.revisionOf?.(row) ?? null);
    if (dryRun) {
      const possible = resource.remove?.possible?.(row) ?? true;
      const message = possible ? `"${row.id}" would be deleted` : `"${row.id}" cannot be deleted`;
      const outcome = { success: possible, message };
      return { status: 200, body: visibleOutcome(request, row.id, outcome), headers: dryRunHeaders };
    }
    const outcome = await removeOne(context, request, row);
    if (!answered) return { status: 204, body: null, headers: {} };
    return { status: 200, body: visibleOutcome(request, row.id, outcome), headers: {} };
  });
}

export async function removeOne(
  context: CollectionContext,
  request: CollectionRequest,
  row: Row,
): Promise<Outcome> {
  const { caller, resource } = request;
  const before = declaredAttributes(resource, row);
  return withAudit(context, request, { action: 'delete', target: row.id, before }, async () => {
    await resource.remove?.run(row, caller);
    return { value: { success: true, message: `"${row.id}" is deleted` } };
  });
}

/** Does an action to a member. One that fails is answered 400, as ManageIQ does. */
export async function runMemberAction(
  context: CollectionContext,
  request: CollectionRequest,
  { action, id, input, name }: OperationOf<'act'>,
): Promise<Answer> {
  const valid = inputOfAction(action, input);
  return withMember(context, request, { action, id }, async (row) => {
    checkIfMatch(request.headers['if-match'], row, request.resource.revisionOf?.(row) ?? null);
    const outcome = await runAction(context, request, { name, action }, row, valid);
    return {
      status: outcome.success ? 200 : 400,
      body: visibleOutcome(request, row.id, outcome),
      headers: request.dryRun ? dryRunHeaders : {},
    };
  });
}

/** In turn with changes of the member, unless the action runs beside them. */
export async function withMember<T>(
  context: CollectionContext,
  request: CollectionRequest,
  { action, id }: { action: Action; id: string },
  run: (row: Row) => Promise<T>,
): Promise<T> {
  return action.beside === true
    ? run(await memberOf(request, id))
    : withMemberLock(context, request, id, run);
}

/** Whether the action is advertised does not count here: it may say itself that there is nothing left to do. */
export async function runAction(
  context: CollectionContext,
  request: CollectionRequest,
  { action, name }: { action: Action; name: string },
  row: Row,
  input: Members,
): Promise<Outcome> {
  const { caller, dryRun } = request;
  if (dryRun) {
    return action.preview
      ? action.preview(row, input, caller)
      : { success: true, message: `"${name}" would be done: the input is valid, and you may` };
  }
  checkRate(context, request, { ...action, name });
  return withAudit(context, request, { action: name, target: row.id, input }, async () => {
    const value = await action.run(row, input, caller);
    return { value, failed: value.success ? null : value.message };
  });
}

/** Counts what is costly. @throws GatewayError `rate_limit_exceeded` */
export function checkRate(
  { pace }: CollectionContext,
  { caller, resource }: CollectionRequest,
  { name, perMinute }: { name: string; perMinute?: number },
): void {
  if (perMinute !== undefined) pace.take(`${caller.userId} ${resource.name}.${name}`, perMinute);
}

export function inputOfAction({ input: schema }: Action, input: Members, at = ''): Members {
  if (schema !== undefined) return validated(schema, input, at);
  const [extra] = Object.keys(input);
  if (extra === undefined) return {};
  throw atFault(`${at === '' ? '' : `${at}.`}${extra.slice(0, 100)}`, 'is unknown here');
}

/** Does a part of a bulk request; its failure is a result like another. */
export async function bulkResult(context: CollectionContext, run: () => Promise<object>): Promise<object> {
  try {
    return { success: true, ...(await run()) };
  } catch (error) {
    if (error instanceof GatewayError) {
      const { code, message, param } = error;
      return { success: false, message, code, ...(param === null ? {} : { param }) };
    }
    context.report(error);
    const message = 'The gateway failed to do this; its log has the cause';
    return { success: false, message, code: 'internal_error' };
  }
}

/** Only what the record declares: the audit log, too, gets nothing else of a row. */
export function declaredAttributes({ record }: Resource, row: Row): Members {
  return Object.fromEntries(Object.entries(row).filter(([name]) => Object.hasOwn(record.shape, name)));
}
