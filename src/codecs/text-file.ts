import type { FilePart, Part, TextPart } from './conversation.ts';

/** Types of documents that are text whatever they begin with. */
const TEXT_TYPES =
  /^(text\/|application\/((.+\+)?(json|xml|yaml)|x-(yaml|sh|httpd-php)|toml|javascript|typescript|sql|jsonl|x-ndjson)(;|$))/i;

/** Whether all that a document says is text. */
export function isTextFile({ source }: Pick<FilePart, 'source'>): boolean {
  return source.kind === 'text' || (source.kind === 'data' && TEXT_TYPES.test(source.mediaType));
}

/** A document that is text as text, under its name; null for any other. */
export function textOfFile(file: FilePart): string | null {
  const { name, source } = file;
  if (!isTextFile(file)) return null;
  const text =
    source.kind === 'text'
      ? source.text
      : Buffer.from(source.kind === 'data' ? source.base64 : '', 'base64').toString('utf8');
  return name === undefined ? text : `${name}:\n\n${text}`;
}

/** Parts for a format without documents: those that are text are said (M-06). */
export function withFilesAsText(parts: readonly Part[]): Part[] {
  return parts.map((part) => {
    if (part.type === 'tool-result') return { ...part, parts: part.parts.map(inWords) };
    return inWords(part);
  });
}

function inWords<T extends Part>(part: T): T | TextPart {
  const text = part.type === 'file' ? textOfFile(part) : null;
  if (text === null || part.type !== 'file') return part;
  return { type: 'text', text, ...(part.cache === undefined ? {} : { cache: part.cache }) };
}
