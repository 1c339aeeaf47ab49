import { urlOfSource } from '../../files/data-url.ts';
import { textOfFile } from '../../files/text-file.ts';
import type { JsonObject } from '../../json/values.ts';
import type { FilePart, ImagePart, Part } from '../../model/conversation.ts';

/** A part as it stands in a user's content; none for what has no place there. */
export function contentOf(part: Part): JsonObject[] {
  switch (part.type) {
    case 'text':
      return part.text === '' ? [] : [{ type: 'text', text: part.text }];
    case 'image':
      return [imageOf(part)];
    case 'file':
      return [fileOf(part)];
    case 'audio':
      return [{ type: 'input_audio', input_audio: { data: part.base64, format: part.format } }];
    default:
      return [];
  }
}

function imageOf({ detail, source }: ImagePart): JsonObject {
  const url = urlOfSource(source) ?? '';
  return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } };
}

/**
 * Plain text goes as text: few servers read files, all read text. OpenRouter reads `file_data` that is an address;
 * other servers refuse it, which is better than an answer about a file that was not read.
 */
function fileOf(file: FilePart): JsonObject {
  const { name, source } = file;
  const text = textOfFile(file);
  if (text !== null || source.kind === 'text') return { type: 'text', text: text ?? '' };
  if (source.kind === 'file') return { type: 'file', file: { file_id: source.id } };
  const filename = name ?? 'document.pdf';
  return { type: 'file', file: { filename, file_data: urlOfSource(source) } };
}
