import { isObject, type Members } from '../../http/collection/input.ts';
import { GatewayError } from '../../lib/error.ts';
import type { Answer } from '../answer.ts';
import {
  bulkResult,
  changesOf,
  inputOfAction,
  previewChange,
  removeOne,
  runAction,
  updateOne,
  withMember,
  withMemberLock,
} from './change.ts';
import type { CollectionContext, CollectionRequest } from './collection.ts';
import type { BulkVerb, Operation } from './operation.ts';
import { referenceIn } from './read.ts';
import { hrefOf, shownRow, visibleAttributes, visibleOutcome } from './shown.ts';

/**
 * Does the same to several members, one after the other: each has its result, and that one fails keeps none of the
 * others from being done.
 */
export async function inBulk(
  context: CollectionContext,
  request: CollectionRequest,
  { members, verb }: Operation & { kind: 'bulk' },
): Promise<Answer> {
  if (request.headers['if-match'] !== undefined)
    throw new GatewayError('invalid_request', '"if-match" is for one resource: leave it out', {
      param: 'if-match',
    });
  const named = members.map((member, index) => ({
    id: referenceIn(request, member, index),
    content: contentOf(member),
    at: `resources[${index}]`,
  }));
  const results: object[] = [];
  for (const { at, content, id } of named) {
    const result = await bulkResult(context, () => doneToOne(context, request, verb, { at, content, id }));
    results.push('href' in result ? result : { ...result, href: hrefOf(request, id) });
  }
  return { status: 200, body: { results }, headers: request.dryRun ? { 'x-dry-run': 'true' } : {} };
}

function doneToOne(
  context: CollectionContext,
  request: CollectionRequest,
  verb: BulkVerb,
  { at, content, id }: { at: string; content: Members; id: string },
): Promise<object> {
  switch (verb.kind) {
    case 'act':
      return withMember(context, request, { ...verb, id }, async (row) => {
        const outcome = await runAction(context, request, verb, row, inputOfAction(verb.action, content, at));
        return visibleOutcome(request, row.id, outcome);
      });
    case 'update':
      return withMemberLock(context, request, id, async (row) => {
        const changes = changesOf(request, row, content, at);
        if (request.dryRun) return previewChange(request, row, changes);
        const after = await updateOne(context, request, row, changes);
        return shownRow(request, after, visibleAttributes(request), null);
      });
    case 'remove':
      return withMemberLock(context, request, id, async (row) => {
        const outcome = request.dryRun
          ? { success: true, message: `"${row.id}" would be deleted` }
          : await removeOne(context, request, row);
        return visibleOutcome(request, row.id, outcome);
      });
  }
}

/** What stands beside the reference. */
function contentOf(member: unknown): Members {
  if (!isObject(member)) return {};
  const { href: _href, id: _id, ...content } = member;
  return content;
}
