import { type JsonObject, objectOf, textOf } from '../../json/values.ts';
import type { ImageSource } from '../../model/stream-part.ts';

/** The picture in a part of an answer; null for any other part. */
export function imageIn(part: JsonObject): ImageSource | null {
  const { data, mimeType } = objectOf(part['inlineData']);
  const mediaType = textOf(mimeType);
  if (typeof data !== 'string' || !mediaType.startsWith('image/')) return null;
  return { kind: 'data', mediaType, base64: data };
}

/** Code that the vendor ran itself, and what it printed, as a reader of another format sees it; null for any other part. */
export function codeIn(part: JsonObject): string | null {
  const { code, language } = objectOf(part['executableCode']);
  if (typeof code === 'string')
    return fenced(
      code,
      textOf(language)
        .toLowerCase()
        .replace(/\W|unspecified/g, ''),
    );
  const { outcome, output } = objectOf(part['codeExecutionResult']);
  const printed = textOf(output) || textOf(outcome);
  return printed === '' ? null : fenced(printed, '');
}

function fenced(text: string, language: string): string {
  return `\`\`\`${language}\n${text}${text.endsWith('\n') ? '' : '\n'}\`\`\``;
}
