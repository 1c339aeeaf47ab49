import { objectOf, textOf } from '../../json/values.ts';
import type { ImageSource } from '../../model/stream-part.ts';
import type { CodeResult, ContentPart, ExecutableCode, InlineData } from '../wire.ts';

/** The picture in a part of an answer; null for any other part. */
export function imageIn(part: ContentPart): ImageSource | null {
  const { data, mimeType } = objectOf<InlineData>(part.inlineData);
  const mediaType = textOf(mimeType);
  if (typeof data !== 'string' || !mediaType.startsWith('image/')) return null;
  return { kind: 'data', mediaType, base64: data };
}

/** Code that the vendor ran itself, and what it printed, as a reader of another format sees it; null for any other part. */
export function codeIn(part: ContentPart): string | null {
  const { code, language } = objectOf<ExecutableCode>(part.executableCode);
  if (typeof code === 'string')
    return fenced(
      code,
      textOf(language)
        .toLowerCase()
        .replace(/\W|unspecified/g, ''),
    );
  const { outcome, output } = objectOf<CodeResult>(part.codeExecutionResult);
  const printed = textOf(output) || textOf(outcome);
  return printed === '' ? null : fenced(printed, '');
}

function fenced(text: string, language: string): string {
  return `\`\`\`${language}\n${text}${text.endsWith('\n') ? '' : '\n'}\`\`\``;
}
