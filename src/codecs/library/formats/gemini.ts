import { translation } from '../../gemini/translation.ts';
import type { Format, Named } from '../format.ts';

/**
 * Google's Gemini API, `POST /v1beta/models/{model}:generateContent` and `:streamGenerateContent?alt=sse`
 * (https://ai.google.dev/api/generate-content).
 */
export const gemini: Format<'gemini'> = translation as Named as Format<'gemini'>;
