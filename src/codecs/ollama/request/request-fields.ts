import type { RequestFields } from '../../request-fields.ts';

/** Ollama API reference, "Generate a chat message". */
export const requestFields: RequestFields = {
  outputCap: ['options.num_predict'],
  turns: 'messages',
  optional: ['think'],
};
