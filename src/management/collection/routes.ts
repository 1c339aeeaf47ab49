import { hasFreshLogin, needsFresh } from '../../access/permissions.ts';
import { checkDepth } from '../../http/collection/input.ts';
import { checkParameters } from '../../http/collection/query.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import { type IdempotentRequest, idempotencyKey } from '../guard/idempotency.ts';
import { inBulk } from './bulk.ts';
import { removeMember, runMemberAction, updateMember } from './change.ts';
import type { Change, CollectionContext, CollectionRequest } from './collection.ts';
import { createMembers } from './create.ts';
import { namesOf, type Operation, operationOf, parametersOf, permissionOf } from './operation.ts';
import { describeCollection, listMembers, readMany, readOne } from './read.ts';

/**
 * Answers a request to a collection or one of its members.
 * @throws GatewayError what is refused, in the order 400 (unknown method or action), 403, 415, 404, and then what the
 *   input or the resource itself says
 */
export async function serveResource(context: CollectionContext, request: CollectionRequest): Promise<Answer> {
  checkDepth(request.body);
  const operation = operationOf(request);
  await demandPermission(context, request, operation);
  // Who deletes gets no body to take or leave.
  if (operation.kind !== 'remove' || operation.answered) request.checkAccept?.();
  const parameters = parametersOf(operation);
  if (parameters !== null) checkParameters(request.params, parameters);
  let noted = false;
  const noting: CollectionContext = {
    ...context,
    record(change) {
      noted ||= change.outcome === 'denied';
      return context.record(change);
    },
  };
  try {
    const run = () => carriedOut(noting, request, operation);
    const key = repeatable(request, operation) ? idempotencyKey(request.headers['idempotency-key']) : null;
    return await (key === null ? run() : context.once.answer(requestedAction(request, key), run));
  } catch (error) {
    // What a resource refuses by itself, before anything of it was to be changed.
    if (error instanceof GatewayError && error.kind === 'permission' && !noted)
      await context.record(denied(request, operation, error));
    throw error;
  }
}

/** Whether it would be another time done if it came again: what is only looked at or foreseen is not. */
function repeatable({ dryRun, method }: CollectionRequest, { kind }: Operation): boolean {
  return method === 'POST' && kind !== 'query' && !dryRun;
}

function requestedAction(
  { body, caller, params, prefix, resource, rest }: CollectionRequest,
  key: string,
): IdempotentRequest {
  // A token with selectors must not get what it may not see by repeating a request of its user.
  const whose = caller.narrowed(resource.name) ? `${caller.userId} ${caller.tokenId}` : caller.userId;
  return { userId: whose, key, content: [prefix, resource.name, ...rest, String(params), body] };
}

async function carriedOut(
  context: CollectionContext,
  request: CollectionRequest,
  operation: Operation,
): Promise<Answer> {
  switch (operation.kind) {
    case 'describe':
      return describeCollection(request);
    case 'list':
      return listMembers(request);
    case 'read':
      return readOne(request, operation.id);
    case 'query':
      return readMany(request, operation.members);
    case 'create':
      return createMembers(context, request, operation);
    case 'update':
      return updateMember(context, request, operation);
    case 'remove':
      return removeMember(context, request, operation);
    case 'act':
      return runMemberAction(context, request, operation);
    case 'bulk':
      return inBulk(context, request, operation);
  }
}

async function demandPermission(
  context: CollectionContext,
  request: CollectionRequest,
  operation: Operation,
): Promise<void> {
  const { caller, resource } = request;
  const permission = permissionOf(operation, resource);
  const lacking = !caller.can(permission)
    ? new GatewayError('forbidden', `This needs the permission ${permission}`)
    : needsFresh(permission) && !hasFreshLogin(caller, context.now())
      ? new GatewayError(
          'reauthentication_required',
          'This needs a password that was given within the last five minutes: log in again',
        )
      : null;
  if (lacking !== null) {
    await context.record(denied(request, operation, lacking));
    throw lacking;
  }
  if (caller.ended) throw endedLogin();
}

/** The error for a login that has ended with a change of role, for all that its user may do with a new one. */
export function endedLogin(): GatewayError {
  return new GatewayError('unauthorized', 'This login ended when your role was changed: log in again');
}

function denied({ caller, resource }: CollectionRequest, operation: Operation, error: GatewayError): Change {
  const { action, target } = namesOf(operation);
  return {
    caller,
    action,
    target,
    collection: resource.name,
    before: null,
    after: null,
    input: null,
    outcome: 'denied',
    reason: error.code,
  };
}
