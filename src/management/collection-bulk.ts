import { isObject, type Members } from '../http/collection/input.ts';
import { GatewayError } from '../lib/error.ts';
import {
  actOnce,
  attempted,
  changesOf,
  foreseen,
  inputOfAction,
  removeOne,
  updateOne,
} from './collection-change.ts';
import type { Operation } from './collection-operation.ts';
import { memberOf, referenceIn } from './collection-read.ts';
import type { Answer, CollectionContext, CollectionRequest } from './collection-routes.ts';
import { hrefOf, shownOutcome, shownRow, visibleAttributes } from './collection-shown.ts';

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
    throw new GatewayError('invalid_request', '"if-match" goes with one member', { param: 'if-match' });
  const named = members.map((member, index) => ({
    id: referenceIn(request, member, index),
    content: contentOf(member),
    at: `resources[${index}]`,
  }));
  const results: object[] = [];
  for (const { at, content, id } of named) {
    const result = await attempted(context, async () => {
      const row = await memberOf(request, id);
      switch (verb.kind) {
        case 'act': {
          const outcome = await actOnce(context, request, verb, row, inputOfAction(verb.action, content, at));
          return shownOutcome(request, row.id, outcome);
        }
        case 'update': {
          const changes = changesOf(request, row, content, at);
          if (request.dryRun) return foreseen(request, row, changes);
          const after = await updateOne(context, request, row, changes);
          return shownRow(request, after, visibleAttributes(request), null);
        }
        case 'remove': {
          const outcome = request.dryRun
            ? { success: true, message: `"${row.id}" would be deleted` }
            : await removeOne(context, request, row);
          return shownOutcome(request, row.id, outcome);
        }
      }
    });
    results.push('href' in result ? result : { ...result, href: hrefOf(request, id) });
  }
  return { status: 200, body: { results }, headers: request.dryRun ? { 'x-dry-run': 'true' } : {} };
}

/** What stands beside the reference. */
function contentOf(member: unknown): Members {
  if (!isObject(member)) return {};
  const { href: _href, id: _id, ...content } = member;
  return content;
}
