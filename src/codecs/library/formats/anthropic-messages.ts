import { translation } from '../../anthropic-messages/translation.ts';
import type { Format, Named } from '../format.ts';

/** Anthropic messages, `POST /v1/messages` (https://docs.claude.com/en/api/messages). */
export const anthropicMessages: Format<'anthropic-messages'> =
  translation as Named as Format<'anthropic-messages'>;
