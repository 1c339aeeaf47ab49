import { textOfBase64 } from '../../lib/bytes.ts';
import { setOff } from '../adapt/joined-texts.ts';
import type { FilePart, Part, TextPart, ToolResultPart } from '../model/conversation.ts';

/** Types of documents that are text whatever they begin with. */
const TEXT_TYPES =
  /^(text\/|application\/((.+\+)?(json|xml|yaml)|x-(yaml|sh|httpd-php)|toml|javascript|typescript|sql|jsonl|x-ndjson)(;|$))/i;

/** Whether the whole content of a document is text. */
export function isTextFile({ source }: Pick<FilePart, 'source'>): boolean {
  return source.kind === 'text' || (source.kind === 'data' && TEXT_TYPES.test(source.mediaType));
}

/** A document that is text as text, under its name; null for any other. */
export function textOfFile(file: FilePart): string | null {
  const { name, source } = file;
  if (!isTextFile(file)) return null;
  const text =
    source.kind === 'text' ? source.text : textOfBase64(source.kind === 'data' ? source.base64 : '');
  return name === undefined ? text : `${name}:\n\n${text}`;
}

/** Parts for a format without documents: text documents become text. */
export function withFilesAsText(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.type === 'tool-result') return { ...part, parts: filesAsResultText(part.parts) };
    return asText(part);
  });
}

type ResultPart = ToolResultPart['parts'][number];

/**
 * The parts of a tool's result with those documents as text that are text. Texts of a result are put together with
 * nothing between, so that a document brings the line breaks along that set it off.
 */
export function filesAsResultText(parts: readonly ResultPart[]): ResultPart[] {
  const worded: readonly ResultPart[] = parts.map(asText);
  return setOff(worded, (part, index) => part !== parts[index]);
}

function asText<T extends Part>(part: T): T | TextPart {
  const text = part.type === 'file' ? textOfFile(part) : null;
  if (text === null || part.type !== 'file') return part;
  return { type: 'text', text, ...(part.cache === undefined ? {} : { cache: part.cache }) };
}
