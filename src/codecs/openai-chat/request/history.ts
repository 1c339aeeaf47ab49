import { isOfMessages } from '../../adapt/optional-fields.ts';
import { NO_SIGNATURE } from '../../gemini/signature.ts';
import type { HistoryCodec, HistoryRules, Stripping } from '../../history/history.ts';
import { OPEN_OBJECT } from '../../json/bytes.ts';
import {
  fieldOf,
  fieldsOf,
  rewriteElements,
  rewriteField,
  rewriteFields,
  withValue,
} from '../../json/fields.ts';
import { isObject, objectOf, parseObject, textOf } from '../../json/values.ts';
import type { ExtraContent, GoogleExtra, ReasoningDetail } from '../wire.ts';

export const history: HistoryCodec = {
  carried: { names: ['signature', 'data'], begins: ['mg1.', 'bWcxL'], strip: withoutDetails },
  refusals: [
    {
      refused:
        /thought[ _]?signature|signature.{0,20}thinking|thinking.{0,20} block|reasoning_details|encrypted/i,
      name: 'reasoning',
      strip: withoutDetailsAndSignatures,
    },
  ],
  own: (rules) => {
    const fields = messageRules(rules);
    return { names: fields.names, rewrite: (request) => withOwnFields(request, fields) };
  },
};

/** Fields of an assistant message that chat servers add to OpenAI's own. */
const foreignFields = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'] as const;

function messageRules({ dialect, refused }: HistoryRules): MessageRules & { names: readonly string[] } {
  const { googleSignatures, noReasoning, reasoningField, strictMessages } = dialect;
  const unknown = foreignFields.filter(
    (name) => name !== reasoningField && !(googleSignatures && name === 'extra_content'),
  );
  const remembered = refused.flatMap((path) => (isOfMessages(path) ? [path.slice('messages.'.length)] : []));
  const droppedFields = [...(strictMessages ? unknown : []), ...remembered];
  // Elsewhere the name is a guess, or another one does no harm.
  const own = strictMessages || noReasoning !== null ? reasoningField : null;
  const renamed = own === null ? [] : reasoningNames.filter((name) => name !== own);
  return { reasoning: own, refused: droppedFields, names: [...new Set([...droppedFields, ...renamed])] };
}

/** The request without encrypted reasoning that its server did not make, or refuses. */
function withoutDetails(request: Buffer, { strips }: Pick<Stripping, 'strips'>): Buffer {
  return eachMessage(request, (message) =>
    rewriteField(message, 'reasoning_details', (details) => {
      let remaining = 0;
      const rest = rewriteElements(details, (detail) => {
        const isStripped = strips(encryptedText(detail));
        if (!isStripped) remaining += 1;
        return isStripped ? null : detail;
      });
      return remaining === 0 ? null : rest;
    }),
  );
}

function encryptedText(detail: Buffer): string {
  const { data, signature }: ReasoningDetail = parseObject(detail.toString('utf8')) ?? {};
  return textOf(signature) || textOf(data);
}

/** The same, and the calls without Google's signatures. */
function withoutDetailsAndSignatures(request: Buffer, stripping: Pick<Stripping, 'strips'>): Buffer {
  return eachMessage(withoutDetails(request, stripping), (message) =>
    rewriteField(withoutField(message, EXTRA_CONTENT), 'tool_calls', (calls) =>
      rewriteElements(calls, withoutSignature),
    ),
  );
}

/** As for Google's own format: newer models require a placeholder on a call that none of them made. */
function withoutSignature(encrypted: Buffer): Buffer {
  if (!encrypted.includes('extra_content')) return encrypted;
  return rewriteField(encrypted, 'extra_content', (extra) => {
    const { google } = objectOf<ExtraContent>(parseObject(extra.toString('utf8')));
    if (!isObject(google)) return null;
    if (objectOf<GoogleExtra>(google).thought_signature === NO_SIGNATURE) return extra;
    return Buffer.from(JSON.stringify({ google: { thought_signature: NO_SIGNATURE } }));
  });
}

/** Which fields of an earlier message a server accepts beside OpenAI's own. */
interface MessageRules {
  /** The field in which it accepts its reasoning; null if none is known. */
  reasoning: string | null;
  /** Fields that it refuses. */
  refused: readonly string[];
}

/** Names under which the reasoning of a message goes. */
const reasoningNames: readonly string[] = ['reasoning_content', 'reasoning'];

/**
 * The request with the reasoning of earlier messages under the server's own name, and without fields that it refuses.
 * @returns also the names of what was left out
 */
function withOwnFields(request: Buffer, rules: MessageRules): { request: Buffer; dropped: string[] } {
  const dropped = new Set<string>();
  const own = eachMessage(request, (message) => ownMessage(message, rules, dropped));
  return { request: own, dropped: [...dropped] };
}

function ownMessage(message: Buffer, { reasoning, refused }: MessageRules, dropped: Set<string>): Buffer {
  const nonEmptyFields = [...fieldsOf(message)].filter(
    (field) => !isEmpty(message.subarray(field.value, field.end)),
  );
  const has = (fieldName: string) => nonEmptyFields.some(({ name }) => name === fieldName);
  const takes = reasoning !== null && !has(reasoning) && !refused.includes(reasoning);
  const renamed = takes ? reasoningNames.find(has) : undefined;
  const without = (value: Buffer, name: string) => {
    if (!isEmpty(value)) dropped.add(name);
    return null;
  };
  return rewriteFields(message, (field) => {
    const { name, value, whole } = field;
    if (name === renamed) return fieldOf(reasoning ?? name, value);
    if (name === reasoning && renamed !== undefined) return null;
    if (refused.includes(name)) return without(value, name);
    if (name !== 'tool_calls' || !refused.includes(EXTRA_CONTENT)) return whole;
    const calls = rewriteElements(value, (call) =>
      rewriteField(call, EXTRA_CONTENT, (extra) => without(extra, EXTRA_CONTENT)),
    );
    return withValue(field, calls);
  });
}

/** The request with a word for the reasoning before each call that has none. */
export function withNoReasoning(request: Buffer, field: string, word: string): Buffer {
  return eachMessage(request, (message) => {
    const names = new Set<string>();
    for (const { name } of fieldsOf(message)) names.add(name);
    if (!names.has('tool_calls') || names.has(field)) return message;
    return rewriteFields(message, ({ name, whole }) =>
      name === 'tool_calls'
        ? Buffer.concat([whole, Buffer.from(`,${JSON.stringify(field)}:${JSON.stringify(word)}`)])
        : whole,
    );
  });
}

/** Where Google keeps the signatures of its models. */
const EXTRA_CONTENT = 'extra_content';

/** `null`, `""` or `[]`. */
function isEmpty(value: Buffer): boolean {
  return value.length <= 4 && ['null', '""', '[]'].includes(value.toString('latin1'));
}

function withoutField(message: Buffer, name: string): Buffer {
  return rewriteField(message, name, () => null);
}

function eachMessage(request: Buffer, rewrite: (message: Buffer) => Buffer): Buffer {
  return rewriteField(request, 'messages', (messages) =>
    rewriteElements(messages, (message) => (message[0] === OPEN_OBJECT ? rewrite(message) : message)),
  );
}
