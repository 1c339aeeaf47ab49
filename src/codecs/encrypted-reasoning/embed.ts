import { base64OfText, base64UrlOfText, textOfBase64 } from '../../lib/bytes.ts';
import type { Sealed } from '../model/conversation.ts';
import type { WireFormat } from '../wire-format.ts';

const PREFIX = 'mg1';
/** Formats that have sealed reasoning. */
const formatsWithEncryption: readonly WireFormat[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
];
const KINDS = ['signature', 'encrypted', 'redacted'] as const;

/**
 * Sealed reasoning of another format in one opaque text, for the place where the client's own format keeps such
 * things. The client sends it back with its next request, and its maker gets it as it was; no state is kept here.
 */
export function embedEncryptedReasoning({ format, id, kind, owner, value }: Sealed): string {
  const kindName = [format, kind, id ?? '', value, ...(owner === undefined ? [] : [owner])];
  const fields = kindName.map((field) => base64UrlOfText(field));
  return [PREFIX, ...fields].join('.');
}

/** The seal in a text that `embedEncryptedReasoning` made; null for any other text. */
export function extractEncryptedReasoning(text: string): Sealed | null {
  const [prefix, ...fields] = text.split('.');
  if (prefix !== PREFIX || fields.length < 4 || fields.length > 5) return null;
  const [format = '', kind = '', id = '', value = '', owner = ''] = fields.map((field) =>
    textOfBase64(field),
  );
  const kindName = KINDS.find((candidate) => candidate === kind);
  if (kindName === undefined || !isFormat(format)) return null;
  return { format, kind: kindName, value, ...(id === '' ? {} : { id }), ...(owner === '' ? {} : { owner }) };
}

/** How base64 of what `embedEncryptedReasoning` writes begins. */
const PREFIX_BASE64 = base64OfText(PREFIX);

/**
 * A carried seal in base64, for fields that are bytes, with the thought that it seals: clients send thoughts
 * themselves not back, or not as they were, and some makers take a seal only with them.
 * @param thought '' where its maker does without
 */
export function embedWithThought(sealed: Sealed, thought: string): string {
  return base64OfText(`${embedEncryptedReasoning(sealed)}${thought === '' ? '' : `\n${thought}`}`);
}

/** What `carryWithThought` carried; null for any other text. */
export function extractWithThought(text: string): { sealed: Sealed; thought: string } | null {
  if (!text.startsWith(PREFIX_BASE64)) return null;
  const [seal = '', ...thought] = textOfBase64(text).split('\n');
  const sealed = extractEncryptedReasoning(seal);
  return sealed === null ? null : { sealed, thought: thought.join('\n') };
}

/** In the place of a seal, where a thought is carried that nobody sealed and its client is not to see. */
export const NOT_ENCRYPTED: Sealed = { format: 'openai-chat', kind: 'redacted', value: '' };

/** The seal of what was carried; null where nobody sealed it. */
export function embeddedReasoning(sealed: Sealed): Sealed | null {
  return sealed.value === '' ? null : sealed;
}

function isFormat(text: string): text is WireFormat {
  return formatsWithEncryption.some((format) => format === text);
}
