import { isOfMessages } from '../adapt/optional-members.ts';
import { carriedSeal, carriedWithThought } from '../encrypted-reasoning/embed.ts';
import type { Dialect } from '../model/dialect.ts';
import type { WireFormat } from '../wire-format.ts';
import { withoutThinking } from './anthropic-messages.ts';
import { withoutSignatures } from './gemini.ts';
import { reasoningNames, withOwnMembers, withoutDetails } from './openai-chat.ts';
import { withoutReasoning } from './openai-responses.ts';
import type { Stripping } from './stripping.ts';

/** How the earlier turns of a request in the upstream's own format must look there. */
export interface HistoryRules {
  format: WireFormat;
  /** The model's name at the target. */
  model: string;
  dialect: Dialect;
  /** Members of messages that the target has refused before. */
  refused: readonly string[];
}

/** Where a format keeps what is sealed, and how it looks where another format's seal was carried there. */
interface CarriedSeals {
  names: readonly string[];
  /** How such a value begins, behind its quote. */
  begins: readonly string[];
  strip(request: Buffer, stripping: Stripping): Buffer;
}

const seals: Readonly<Partial<Record<WireFormat, CarriedSeals>>> = {
  'anthropic-messages': { names: ['signature'], begins: ['mg1.', 'bWcxL'], strip: withoutThinking },
  'openai-responses': { names: ['encrypted_content'], begins: ['mg1.'], strip: withoutReasoning },
  'openai-chat': { names: ['signature', 'data'], begins: ['mg1.', 'bWcxL'], strip: withoutDetails },
  gemini: { names: ['thoughtSignature', 'thought_signature'], begins: ['bWcxL'], strip: withoutSignatures },
};

/** What a message of the assistant bears on chat servers beside OpenAI's own members, after an answer by another server. */
const chatMembers = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content'] as const;

/**
 * A request in the upstream's own format with earlier turns as the upstream takes them: other vendors made some of them,
 * and what those sealed or added would be refused. Every other byte stays as it is.
 * @returns the same buffer, and nothing left out, where nothing has to change
 * @throws GatewayError `invalid_json`
 */
export function relayedHistory(
  pieces: readonly Buffer[],
  rules: HistoryRules,
): { body: readonly Buffer[]; left: string[] } {
  const carried = seals[rules.format];
  // A thought without a signature is another vendor's where the vendor signs all of them.
  const isSigning = rules.format === 'anthropic-messages' && rules.dialect.signedThinking;
  const begins = carried === undefined ? [] : [...carried.begins, ...(isSigning ? ['"'] : [])];
  const strips = carried?.names.some((name) => holds(pieces, name, begins)) === true;
  const members = rules.format === 'openai-chat' ? chatRules(rules) : null;
  const rewrites = members?.sought.some((name) => holds(pieces, name, null)) === true;
  if (!strips && !rewrites) return { body: pieces, left: [] };
  const body = Buffer.concat(pieces);
  const stripped = strips
    ? carried.strip(body, {
        model: rules.model,
        takes: (seal) => (seal === '' ? isSigning : isCarried(seal)),
      })
    : body;
  const own = rewrites && members !== null ? withOwnMembers(stripped, members) : null;
  const left = [...(stripped === body ? [] : ['reasoning']), ...messageMembers(own?.left ?? [])];
  const request = own?.request ?? stripped;
  return { body: request === body ? pieces : [request], left };
}

/** Whether a seal is not the vendor's own: another format's that was carried there. */
function isCarried(seal: string): boolean {
  return carriedSeal(seal) !== null || carriedWithThought(seal) !== null;
}

function chatRules({ dialect, refused }: HistoryRules) {
  const { googleSeals, noReasoning, reasoningField, strictMessages } = dialect;
  const unknown = chatMembers.filter(
    (name) => name !== reasoningField && !(googleSeals && name === 'extra_content'),
  );
  const remembered = refused.flatMap((path) => (isOfMessages(path) ? [path.slice('messages.'.length)] : []));
  const gone = [...(strictMessages ? unknown : []), ...remembered];
  // Elsewhere the name is a guess, or another one does no harm.
  const own = strictMessages || noReasoning !== null ? reasoningField : null;
  const renamed = own === null ? [] : reasoningNames.filter((name) => name !== own);
  return { reasoning: own, refused: gone, sought: [...new Set([...gone, ...renamed])] };
}

const messageMembers = (names: readonly string[]) => names.map((name) => `messages.${name}`);

/** Longer than a member's name, its colon and the beginning of a seal. */
const SEAM = 64;

/**
 * Whether a member of this name stands anywhere in the pieces, with a text that begins in one of these ways. What is
 * written with escapes is not found: no client writes these names so.
 */
function holds(pieces: readonly Buffer[], name: string, begins: readonly string[] | null): boolean {
  const needle = Buffer.from(`"${name}"`);
  return pieces.some((piece, index) => {
    if (found(piece, needle, begins)) return true;
    const next = pieces[index + 1];
    if (next === undefined) return false;
    return found(Buffer.concat([piece.subarray(-SEAM), next.subarray(0, SEAM)]), needle, begins);
  });
}

const afterName = /^\s{0,8}:\s{0,8}/;

function found(bytes: Buffer, needle: Buffer, begins: readonly string[] | null): boolean {
  for (let at = bytes.indexOf(needle); at !== -1; at = bytes.indexOf(needle, at + 1)) {
    const end = at + needle.length;
    const behind = bytes.toString('latin1', end, end + SEAM - needle.length);
    const value = behind.replace(afterName, '');
    // A text of that name is no member.
    if (value === behind) continue;
    if (begins === null || begins.some((begin) => value.startsWith(`"${begin}`))) return true;
  }
  return false;
}
