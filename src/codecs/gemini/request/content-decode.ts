import { isObject, type JsonObject, textOf } from '../../json/values.ts';
import { textAt, wrong } from '../../json/wire-check.ts';
import type {
  EncryptedReasoning,
  FilePart,
  ImagePart,
  NativePart,
  Part,
  ReasoningPart,
  Source,
} from '../../model/conversation.ts';
import { encryptedReasoningOf, thoughtIn } from '../signature.ts';
import type { ContentPart, FileData, FunctionCall, FunctionResponse, InlineData } from '../wire.ts';
import { messageAt } from '../wire-names.ts';
import { kindOf, mediaPart, typeOfUrl } from './media.ts';

/** Gives the neutral ids to calls and results, which may come without any. */
export interface CallPairing {
  /** The id of a call. */
  called(name: string, id: string | null): string;
  /** The id of the call that a result answers. */
  answered(name: string, id: string | null): string;
}

/**
 * The neutral parts of one part of a content. A signature on a text or a call becomes reasoning before it; when a
 * thought stands there already (`before`), it is that thought's.
 */
export function readPart(
  part: ContentPart,
  path: string,
  before: readonly Part[],
  pairing: CallPairing,
): Part[] {
  const signature = textAt(part, 'thoughtSignature', `${path}.thoughtSignature`) ?? '';
  const encrypted = encryptedReasoningOf(signature);
  const text = textAt(part, 'text', `${path}.text`);
  if (part.thought === true) return thoughtPart(text, encrypted, before.at(-1));
  const ownParts = text === null ? dataPart(part, path, pairing) : text === '' ? [] : [plainText(text)];
  if (encrypted === null || ownParts.some(({ type }) => type === 'native')) return ownParts;
  const last = before.at(-1);
  if (last?.type !== 'reasoning' || last.encrypted !== null)
    return [thought(thoughtIn(signature), encrypted), ...ownParts];
  last.encrypted = encrypted;
  last.text = thoughtIn(signature) || last.text;
  last.summary = isSummary(encrypted);
  return ownParts;
}

/** A thought, or the next piece of the previous one: clients return the pieces of a stream as they were, the last with the encrypted reasoning. */
function thoughtPart(
  text: string | null,
  encrypted: EncryptedReasoning | null,
  last: Part | undefined,
): Part[] {
  if (text === null && encrypted === null) return [];
  if (last?.type !== 'reasoning' || last.encrypted !== null) return [thought(text ?? '', encrypted)];
  last.text += text ?? '';
  last.encrypted = encrypted;
  last.summary = isSummary(encrypted);
  return [];
}

function plainText(text: string): Part {
  return { type: 'text', text };
}

function thought(text: string, encrypted: EncryptedReasoning | null): ReasoningPart {
  return { type: 'reasoning', text, summary: isSummary(encrypted), encrypted };
}

/** Thoughts are shown as summaries ("Thought summaries"); only Anthropic's, carried here, are the thoughts themselves. */
function isSummary(encrypted: EncryptedReasoning | null): boolean {
  return encrypted?.format !== 'anthropic-messages';
}

function dataPart(part: ContentPart, path: string, pairing: CallPairing): Part[] {
  const call = messageAt(part, 'functionCall', `${path}.functionCall`);
  if (call !== null) return [callPart(call, `${path}.functionCall`, pairing)];
  const result = messageAt(part, 'functionResponse', `${path}.functionResponse`);
  if (result !== null) return [resultPart(result, `${path}.functionResponse`, pairing)];
  const media = readMedia(part, path);
  if (media !== null) return [media];
  const name = Object.keys(part).find((key) => !noContent.has(key));
  return name === undefined ? [] : [nativePart(name, part)];
}

/** Fields of a part that describe its content. */
const noContent: ReadonlySet<string> = new Set([
  'thought',
  'thoughtSignature',
  'videoMetadata',
  'partMetadata',
  'mediaResolution',
  'mediaProcessing',
  'speechMetadata',
  'text',
  'functionCall',
  'functionResponse',
  'inlineData',
  'fileData',
]);

/** What the vendor's own tools did, which can be written as text. */
const tellable: ReadonlySet<string> = new Set([
  'executableCode',
  'codeExecutionResult',
  'toolCall',
  'toolResponse',
  'audioTranscription',
]);

function nativePart(name: string, value: ContentPart & JsonObject): NativePart {
  const text = tellable.has(name) ? `[${name}] ${JSON.stringify(value[name])}` : null;
  return { type: 'native', format: 'gemini', name, value, text };
}

/** `inlineData` or `fileData`; null for a part without. Video has no like elsewhere. */
function readMedia(part: ContentPart, path: string): Part | null {
  const blob: InlineData | null = messageAt(part, 'inlineData', `${path}.inlineData`);
  if (blob !== null) {
    const mediaType = textAt(blob, 'mimeType', `${path}.inlineData.mimeType`) ?? '';
    const base64 = textAt(blob, 'data', `${path}.inlineData.data`);
    if (base64 === null) throw wrong(`${path}.inlineData.data`, 'a string');
    const source: Source = { kind: 'data', mediaType, base64 };
    return media(mediaType, source, nameIn(blob)) ?? nativePart('inlineData', part);
  }
  const file: FileData | null = messageAt(part, 'fileData', `${path}.fileData`);
  if (file === null) return null;
  const uri = textAt(file, 'fileUri', `${path}.fileData.fileUri`);
  if (uri === null) throw wrong(`${path}.fileData.fileUri`, 'a string');
  const mediaType = textAt(file, 'mimeType', `${path}.fileData.mimeType`) ?? typeOfUrl(uri) ?? PDF;
  return media(mediaType, sourceOfUri(uri), nameIn(file)) ?? nativePart('fileData', part);
}

const PDF = 'application/pdf';

function media(mimeType: string, source: Source, name: string): Part | null {
  const kind = kindOf(mimeType);
  const part = kind === null ? null : mediaPart(kind, source);
  if (part === null || part.type === 'audio' || name === '') return part;
  return { ...part, name };
}

/** What a document or a picture is called. */
function nameIn(holder: InlineData | FileData): string {
  return textOf(holder.displayName);
}

/** Files that were uploaded to Google's Files API or its storage; and what it alone plays. */
const GOOGLES =
  /^(gs:|files\/|https:\/\/(generativelanguage\.googleapis\.com|(www\.)?youtube\.com|youtu\.be)\/)/;

function sourceOfUri(uri: string): Source {
  return GOOGLES.test(uri) ? { kind: 'file', id: uri, format: 'gemini' } : { kind: 'url', url: uri };
}

function callPart(call: FunctionCall, path: string, pairing: CallPairing): Part {
  const name = textAt(call, 'name', `${path}.name`);
  if (name === null) throw wrong(`${path}.name`, 'a string');
  const args = messageArgs(call, path);
  const id = pairing.called(name, textAt(call, 'id', `${path}.id`));
  return { type: 'tool-call', id, name, input: args === null ? '' : JSON.stringify(args), kind: 'function' };
}

function messageArgs(call: FunctionCall, path: string): JsonObject | null {
  const { args } = call;
  if (args === undefined || args === null) return null;
  if (!isObject(args)) throw wrong(`${path}.args`, 'an object');
  return args;
}

function resultPart(result: FunctionResponse, path: string, pairing: CallPairing): Part {
  const id = textAt(result, 'id', `${path}.id`);
  const name = textAt(result, 'name', `${path}.name`);
  if (name === null && id === null) throw wrong(`${path}.name`, 'a string');
  const { isError, text } = outcomeOf(result.response);
  return {
    type: 'tool-result',
    callId: pairing.answered(name ?? '', id),
    kind: 'function',
    isError,
    parts: [...(text === '' ? [] : [{ type: 'text' as const, text }]), ...shownIn(result, path)],
  };
}

/** The fields that hold all of what a function answered (`FunctionResponse.response`; `result` is what samples use). */
const wraps: ReadonlySet<string> = new Set(['output', 'result', 'error']);

/** What a function answered, without the object that the format puts around it. */
function outcomeOf(response: unknown): { text: string; isError: boolean } {
  if (!isObject(response)) return { text: asText(response), isError: false };
  const [name = '', ...others] = Object.keys(response);
  if (others.length > 0 || !wraps.has(name))
    return { text: name === '' ? '' : JSON.stringify(response), isError: false };
  return { text: asText(response[name]), isError: name === 'error' };
}

function asText(value: unknown): string {
  if (value === undefined || value === null) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Images and files in a result. */
function shownIn(result: FunctionResponse, path: string): (ImagePart | FilePart)[] {
  const { parts } = result;
  if (parts === undefined || parts === null) return [];
  if (!Array.isArray(parts)) throw wrong(`${path}.parts`, 'a list');
  return parts.map((part, index) => {
    const at = `${path}.parts[${index}]`;
    const shown = isObject(part) ? readMedia(part, at) : null;
    if (shown?.type !== 'image' && shown?.type !== 'file') throw wrong(at, 'an image or a document');
    return shown;
  });
}

/** The text of one part of the instructions. @throws GatewayError for anything but text */
export function instructionOf(part: ContentPart, path: string): string {
  const text = textAt(part, 'text', `${path}.text`);
  if (text === null && Object.keys(part).some((name) => !noContent.has(name) || name === 'inlineData'))
    throw wrong(path, 'a text');
  return textOf(text);
}
