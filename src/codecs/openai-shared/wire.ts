/**
 * What the gateway reads of the records that OpenAI's chat and completions formats share, with what other vendors' servers
 * write into them. For the rules of such types see `openai-chat/wire.ts`.
 */
export type ChoiceChunk = {
  id?: unknown;
  model?: unknown;
  object?: unknown;
  type?: unknown;
  choices?: unknown;
  usage?: unknown;
  service_tier?: unknown;
  error?: unknown;
  /** Groq's: usage. */
  x_groq?: unknown;
  obfuscation?: unknown;
};

export type WireChoice = {
  index?: unknown;
  finish_reason?: unknown;
  logprobs?: unknown;
  /** Moonshot's. */
  usage?: unknown;
};

export type GroqReport = {
  usage?: unknown;
};

/** An error, as an object; servers of this format have many shapes of it (`failures/vendor-message.ts`). */
export type WireError = {
  message?: unknown;
  type?: unknown;
  code?: unknown;
  status?: unknown;
  status_code?: unknown;
  error?: unknown;
};
