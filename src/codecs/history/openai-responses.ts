import { rewriteItems, rewriteMember } from '../json/members.ts';
import { parseObject, textOf } from '../json/values.ts';
import type { Stripping } from './stripping.ts';

/** The request without reasoning that its vendor did not seal, or refuses. */
export function withoutReasoning(request: Buffer, { takes }: Pick<Stripping, 'takes'>): Buffer {
  return rewriteMember(request, 'input', (input) =>
    rewriteItems(input, (item) => (isTaken(item, takes) ? null : item)),
  );
}

function isTaken(item: Buffer, takes: Stripping['takes']): boolean {
  if (!item.includes('"reasoning"')) return false;
  const { encrypted_content, type } = parseObject(item.toString('utf8')) ?? {};
  return type === 'reasoning' && takes(textOf(encrypted_content));
}

/** The same, and no item by its id: one that is known by it is refused without the reasoning that it came with. */
export function withoutReasoningAndIds(request: Buffer, stripping: Pick<Stripping, 'takes'>): Buffer {
  const stripped = withoutReasoning(request, stripping);
  if (stripped === request) return request;
  return rewriteMember(stripped, 'input', (input) =>
    rewriteItems(input, (item) =>
      item.includes('"item_reference"') && parseObject(item.toString('utf8'))?.['type'] === 'item_reference'
        ? item
        : rewriteMember(item, 'id', () => null),
    ),
  );
}
