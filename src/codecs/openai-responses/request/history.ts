import type { HistoryCodec, Stripping } from '../../history/history.ts';
import { rewriteElements, rewriteField } from '../../json/fields.ts';
import { parseObject, textOf } from '../../json/values.ts';
import type { ResponsesItem } from '../wire.ts';

export const history: HistoryCodec = {
  carried: { names: ['encrypted_content'], begins: ['mg1.'], strip: withoutReasoning },
  refusals: [
    {
      // An item of another server is not found by its id.
      refused: /encrypted[ _]content|reasoning.{0,20} item|item with id 'rs_/i,
      name: 'reasoning',
      strip: withoutReasoningAndIds,
    },
  ],
};

/** The request without reasoning that its vendor did not make, or refuses. */
function withoutReasoning(request: Buffer, { strips }: Pick<Stripping, 'strips'>): Buffer {
  return rewriteField(request, 'input', (input) =>
    rewriteElements(input, (item) => (isStrippedItem(item, strips) ? null : item)),
  );
}

function isStrippedItem(item: Buffer, strips: Stripping['strips']): boolean {
  if (!item.includes('"reasoning"')) return false;
  const { encrypted_content, type }: ResponsesItem = parseObject(item.toString('utf8')) ?? {};
  return type === 'reasoning' && strips(textOf(encrypted_content));
}

/** The same, and no item by its id: one that is known by it is refused without the reasoning that it came with. */
function withoutReasoningAndIds(request: Buffer, stripping: Pick<Stripping, 'strips'>): Buffer {
  const stripped = withoutReasoning(request, stripping);
  if (stripped === request) return request;
  return rewriteField(stripped, 'input', (input) =>
    rewriteElements(input, (item) =>
      item.includes('"item_reference"') && typeOf(item) === 'item_reference'
        ? item
        : rewriteField(item, 'id', () => null),
    ),
  );
}

function typeOf(item: Buffer): unknown {
  const { type }: ResponsesItem = parseObject(item.toString('utf8')) ?? {};
  return type;
}
