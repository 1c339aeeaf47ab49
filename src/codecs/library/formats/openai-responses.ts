import { translation } from '../../openai-responses/translation.ts';
import type { Format, Named } from '../format.ts';

/** OpenAI responses, `POST /v1/responses` (https://platform.openai.com/docs/api-reference/responses). */
export const openaiResponses: Format<'openai-responses'> = translation as Named as Format<'openai-responses'>;
