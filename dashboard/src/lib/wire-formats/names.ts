/** The wire formats in which the dashboard can ask a model. */
export const formatNames = [
  'openai-chat',
  'openai-responses',
  'anthropic-messages',
  'gemini',
  'ollama',
] as const;

export type FormatName = (typeof formatNames)[number];
