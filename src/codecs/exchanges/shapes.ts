import type { WireFormat } from '../wire-format.ts';
import { messagesExchange } from './anthropic-messages.ts';
import { geminiExchange } from './gemini.ts';
import { chatExchange } from './openai-chat.ts';
import { responsesExchange } from './openai-responses.ts';
import type { ExchangeShape } from './shape.ts';

/** The formats whose requests repeat a conversation turn by turn. */
export const exchangeShapes: Readonly<Partial<Record<WireFormat, ExchangeShape>>> = {
  'anthropic-messages': messagesExchange,
  'openai-chat': chatExchange,
  'openai-responses': responsesExchange,
  gemini: geminiExchange,
};
