import { base64OfText, base64UrlOfText, textOfBase64 } from '../../lib/bytes.ts';
import type { EncryptedReasoning } from '../model/conversation.ts';
import type { WireFormat } from '../wire-format.ts';

const PREFIX = 'mg1';
/** Formats that have encrypted reasoning. */
const formatsWithEncryption: readonly WireFormat[] = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
];
const KINDS = ['signature', 'encrypted', 'redacted'] as const;

/**
 * Encrypted reasoning of another format in one opaque text, for the place where the client's own format keeps such
 * things. The client sends it back with its next request, and its maker gets it as it was; no state is kept here.
 */
export function embedEncryptedReasoning({ format, id, kind, owner, value }: EncryptedReasoning): string {
  const kindName = [format, kind, id ?? '', value, ...(owner === undefined ? [] : [owner])];
  const fields = kindName.map((field) => base64UrlOfText(field));
  return [PREFIX, ...fields].join('.');
}

/** The encrypted reasoning in a text that `embedEncryptedReasoning` made; null for any other text. */
export function extractEncryptedReasoning(text: string): EncryptedReasoning | null {
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
 * Embedded reasoning in base64, for fields that are bytes, with the thought that it encrypts: clients send thoughts
 * themselves not back, or not as they were, and some makers take encrypted reasoning only with them.
 * @param thought '' where its maker does without
 */
export function embedWithThought(encrypted: EncryptedReasoning, thought: string): string {
  return base64OfText(`${embedEncryptedReasoning(encrypted)}${thought === '' ? '' : `\n${thought}`}`);
}

/** What `embedWithThought` embedded; null for any other text. */
export function extractWithThought(text: string): { encrypted: EncryptedReasoning; thought: string } | null {
  if (!text.startsWith(PREFIX_BASE64)) return null;
  const [embedded = '', ...thought] = textOfBase64(text).split('\n');
  const encrypted = extractEncryptedReasoning(embedded);
  return encrypted === null ? null : { encrypted, thought: thought.join('\n') };
}

/** In the place of encrypted reasoning, where a thought is carried that is not encrypted and its client is not to see. */
export const NOT_ENCRYPTED: EncryptedReasoning = { format: 'openai-chat', kind: 'redacted', value: '' };

/** The encrypted reasoning of what was carried; null where it is not encrypted. */
export function embeddedReasoning(encrypted: EncryptedReasoning): EncryptedReasoning | null {
  return encrypted.value === '' ? null : encrypted;
}

function isFormat(text: string): text is WireFormat {
  return formatsWithEncryption.some((format) => format === text);
}
