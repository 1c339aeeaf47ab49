import type { HistoryCodec, Stripping } from '../../history/history.ts';
import { fieldOf, rewriteElements, rewriteField, rewriteFields } from '../../json/fields.ts';
import { isObject, parseObject, textOf } from '../../json/values.ts';
import { NO_SIGNATURE } from '../signature.ts';
import type { ContentPart } from '../wire.ts';

export const history: HistoryCodec = {
  carried: { names: ['thoughtSignature', 'thought_signature'], begins: ['bWcxL'], strip: withoutSignatures },
  refusals: [{ refused: /thought[ _]?signature/i, name: 'reasoning', strip: withoutSignatures }],
};

const unsigned = fieldOf('thoughtSignature', Buffer.from(JSON.stringify(NO_SIGNATURE)));
const names: ReadonlySet<string> = new Set(['thoughtSignature', 'thought_signature']);

/** The request without signatures that its vendor did not make, or refuses. */
function withoutSignatures(request: Buffer, { strips }: Pick<Stripping, 'strips'>): Buffer {
  return rewriteField(request, 'contents', (contents) =>
    rewriteElements(contents, (content) => {
      let remaining = 0;
      const stripped = rewriteField(content, 'parts', (parts) =>
        rewriteElements(parts, (part) => {
          const remainingPart = withoutSignature(part, strips);
          if (remainingPart !== null) remaining += 1;
          return remainingPart;
        }),
      );
      return stripped !== content && remaining === 0 ? null : stripped;
    }),
  );
}

function withoutSignature(part: Buffer, strips: Stripping['strips']): Buffer | null {
  if (!part.includes('hought')) return part;
  const read: ContentPart = parseObject(part.toString('utf8')) ?? {};
  const signature = signatureOf(read);
  if (signature === '' || signature === NO_SIGNATURE || !strips(signature)) return part;
  // An empty text is there for its signature alone, and refused without.
  if (read.text === '') return null;
  // Newer models require one on a call; they accept this one for a call of another model.
  let placeholder = isObject(read.functionCall) ? unsigned : null;
  return rewriteFields(part, ({ name, whole }) => {
    if (!names.has(name)) return whole;
    const written = placeholder;
    placeholder = null;
    return written;
  });
}

const signatureOf = (part: ContentPart): string =>
  textOf(part.thoughtSignature) || textOf(part.thought_signature);
