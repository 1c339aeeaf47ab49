/**
 * How vendors say that a conversation is longer than their model can read: OpenAI ("This model's maximum context length
 * is 128000 tokens. However, your messages resulted in 150000 tokens"), Anthropic ("prompt is too long: 208310 tokens >
 * 200000 maximum"), Google ("The input token count (1200000) exceeds the maximum number of tokens allowed (1048576)"),
 * and servers like vLLM and llama.cpp.
 */
const overflow =
  /context_length_exceeded|maximum context length|prompt is too long|input token count.{0,40}exceeds|exceeds? the (?:available )?(?:context|maximum number of tokens)|context (?:window|length|size).{0,40}exceed|exceed.{0,40}context (?:window|length|size)|input is too long/i;

/** Whether an error is about the length of the conversation: agents make it shorter then, in place of giving up. */
export function saysOverflow(error: string): boolean {
  return overflow.test(error);
}

/**
 * The message by which Anthropic's clients recognize it: they search for its text and for both counts after it. The
 * larger count is the size of the request.
 */
export function promptIsTooLong(message: string): string {
  if (/^prompt is too long/i.test(message)) return message;
  const counts = [...message.matchAll(/\d{3,9}/g)].map(([digits]) => Number(digits));
  const [sent, most] = [Math.max(...counts), Math.min(...counts)];
  return counts.length > 1 && sent > most
    ? `prompt is too long: ${sent} tokens > ${most} maximum (${message})`
    : `prompt is too long: ${message}`;
}
