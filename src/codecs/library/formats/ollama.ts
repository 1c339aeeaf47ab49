import { translation } from '../../ollama/translation.ts';
import type { Format, Named } from '../format.ts';

/** Ollama's own chat, `POST /api/chat`, streamed as one JSON object a line (https://github.com/ollama/ollama/blob/main/docs/api.md). */
export const ollama: Format<'ollama'> = translation as Named as Format<'ollama'>;
