import { type FormatName, formatNames } from '../../lib/wire-formats/names.ts';
import { snippet } from '../../lib/wire-formats/snippets.ts';

/** Where the prompt goes, which is not kept. */
const PROMPT = 'YOUR PROMPT';

/** Whether the dashboard can write a request of this format. */
export function isFormat(format: string): format is FormatName {
  return formatNames.some((name) => name === format);
}

/** A command that asks the same model in the same way, with a prompt of one's own. */
export function repeatedAsCurl(format: FormatName, model: string, stream: boolean): string {
  return snippet('curl', format, { model, stream, text: PROMPT, system: '', maxTokens: null });
}
