import { translation } from '../../openai-chat/translation.ts';
import type { Format, Named } from '../format.ts';

/** OpenAI chat completions, `POST /v1/chat/completions` (https://platform.openai.com/docs/api-reference/chat). */
export const openaiChat: Format<'openai-chat'> = translation as Named as Format<'openai-chat'>;
