import { translation } from '../../openai-completions/translation.ts';
import type { Format, Named } from '../format.ts';

/** OpenAI's older text completions, `POST /v1/completions` (https://platform.openai.com/docs/api-reference/completions). */
export const openaiCompletions: Format<'openai-completions'> =
  translation as Named as Format<'openai-completions'>;
