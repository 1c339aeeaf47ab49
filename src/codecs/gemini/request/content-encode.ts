import { argumentsOf } from '../../adapt/call-arguments.ts';
import { asWritten } from '../../adapt/joined-texts.ts';
import { imageTypeOf } from '../../files/image-type.ts';
import { filesAsResultText, textOfFile } from '../../files/text-file.ts';
import type { JsonObject } from '../../json/values.ts';
import type { FilePart, ImagePart, Part, ReasoningPart, ToolResultPart } from '../../model/conversation.ts';
import type { ContentPart } from '../wire.ts';
import { kindOf, typeOfUrl } from './media.ts';

/** Parts of the wire. What the format cannot say, and empty texts, have none. */
export function partsOf(parts: readonly Part[]): JsonObject[] {
  const result: JsonObject[] = [];
  let signature: string | null = null;
  for (const part of parts) {
    const [wire] = partOf(part);
    const own = part.type === 'reasoning' ? signatureIn(part) : null;
    if (signature !== null && wire !== undefined && isSignable(wire)) {
      result.push({ ...wire, thoughtSignature: signature });
    } else {
      if (signature !== null) result.push(emptyText(signature));
      if (wire !== undefined) result.push(wire);
    }
    signature = own;
  }
  if (signature !== null) result.push(emptyText(signature));
  return result;
}

/**
 * A signature stands on the text or the call after the thought, which is where the vendor puts it; on an empty text
 * where neither follows ("Thought signatures", non-function-call parts).
 */
function emptyText(thoughtSignature: string): JsonObject {
  return { text: '', thoughtSignature };
}

function isSignable(wire: ContentPart): boolean {
  return ('text' in wire && wire.thought !== true) || 'functionCall' in wire || 'inlineData' in wire;
}

/** The vendor takes back what it signed itself; thoughts without a signature are anybody's, and are left out. */
function signatureIn({ encrypted }: ReasoningPart): string | null {
  return encrypted?.format === 'gemini' ? encrypted.value : null;
}

function partOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
    case 'refusal':
      return part.text === '' ? [] : [{ text: part.text }];
    case 'reasoning':
      return part.text === '' || signatureIn(part) === null ? [] : [{ text: part.text, thought: true }];
    case 'image':
    case 'file':
      return [mediaOf(part)];
    case 'audio':
      return [{ inlineData: { mimeType: `audio/${part.format}`, data: part.base64 } }];
    case 'tool-call':
      return [{ functionCall: { id: part.id, name: part.name, args: argumentsOf(part.input) } }];
    case 'native':
      return part.format === 'gemini' ? [part.value] : [];
    case 'search':
    case 'tool-result':
      // Searches of other vendors become text; `turns.ts` writes results, because they name the function that was called.
      return [];
  }
}

/** The default types of content without one: the vendor requires a type. */
const ANY_IMAGE = 'image/jpeg';
const ANY_FILE = 'application/pdf';

/** An image or a document. Only a text document can keep its name, in its text. */
export function mediaOf(part: ImagePart | FilePart): JsonObject {
  const { source } = part;
  switch (source.kind) {
    case 'text':
      return { text: part.type === 'file' ? (textOfFile(part) ?? '') : source.text };
    case 'data': {
      const shown = part.type === 'image' ? imageTypeOf(source.base64) : undefined;
      const any = part.type === 'image' ? ANY_IMAGE : ANY_FILE;
      return { inlineData: { mimeType: shown ?? (source.mediaType || any), data: source.base64 } };
    }
    case 'url': {
      const mediaType = typeOfUrl(source.url);
      const image = mediaType !== null && kindOf(mediaType) === 'image' ? mediaType : ANY_IMAGE;
      const mimeType = part.type === 'image' ? image : (mediaType ?? ANY_FILE);
      return { fileData: { mimeType, fileUri: source.url } };
    }
    case 'file':
      return { fileData: { fileUri: source.id } };
  }
}

/** A result in this format, and its images that are moved after all results. */
export interface WireResult {
  part: JsonObject;
  beside: JsonObject[];
}

/**
 * A result of the function `name`, its text under `output` or `error` (`FunctionResponse.response`). Its images and
 * documents stand in it where the model sees them there (`inside`).
 */
export function resultOf(
  { callId, isError, parts }: ToolResultPart,
  name: string,
  inside: boolean,
): WireResult {
  const worded = filesAsResultText(parts);
  const text = asWritten(worded.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
  const shown = worded.filter(({ type }) => type !== 'text').flatMap(partOf);
  const within = inside && shown.length > 0;
  return {
    part: {
      functionResponse: {
        id: callId,
        name,
        response: { [isError ? 'error' : 'output']: text },
        ...(within ? { parts: shown } : {}),
      },
    },
    beside: within || shown.length === 0 ? [] : [{ text: `Attachment of the result of ${name}:` }, ...shown],
  };
}

/** The text and images of a result without a call. */
export function resultText({ parts }: ToolResultPart): JsonObject[] {
  return parts.flatMap(partOf);
}
