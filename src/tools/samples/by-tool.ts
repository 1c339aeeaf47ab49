import type { Tool } from '../tool.ts';
import { chatSample } from './chat.ts';
import { geminiSample } from './gemini.ts';
import { messagesSample } from './messages.ts';
import { responsesSample } from './responses.ts';
import type { Sample } from './sample.ts';

/** The request that a tool sends; of a tool whose requests were not recorded, one of its API. */
export function sampleOf({ id, recipe }: Pick<Tool, 'id' | 'recipe'>): Sample {
  switch (recipe.api) {
    case 'anthropic-messages':
      return messagesSample;
    case 'openai-responses':
      return responsesSample;
    case 'gemini':
      return geminiSample;
    case 'openai-chat':
      return chatSample(id);
  }
}
