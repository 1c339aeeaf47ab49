import { messagesAnswer } from './answers.ts';
import { type CachedUsage, type PromptCache, promptCache } from './prompt-cache.ts';
import { json } from './steps.ts';
import type { Upstream } from './upstream.ts';

/** A request as the vendor saw it. */
export interface SeenPrompt {
  usage: CachedUsage;
  /** How many marks it had. */
  marks: number;
}

/** Tokens of every answer. */
const OUTPUT = 200;
/** The least that `claude-sonnet-5` keeps. */
const rules = { minimum: 1024, now: () => 0 };

/**
 * Makes an upstream answer as Anthropic does, with usage that comes from a prompt cache that starts empty.
 * @returns what it is asked from now on, in order
 */
export function cachingVendor(
  upstream: Upstream,
  cache: PromptCache = promptCache(rules),
): readonly SeenPrompt[] {
  const seen: SeenPrompt[] = [];
  upstream.respond(({ body }) => {
    const text = body.toString();
    const said = cache.ask(JSON.parse(text));
    if ('refused' in said)
      return [json(400, { type: 'error', error: { type: 'invalid_request_error', message: said.refused } })];
    seen.push({ usage: said.usage, marks: text.split('"cache_control"').length - 1 });
    return [json(200, messagesAnswer({ usage: { ...said.usage, output_tokens: OUTPUT } }))];
  });
  return seen;
}

/** All tokens of a prompt. */
export function promptTokens({ usage }: Pick<SeenPrompt, 'usage'>): number {
  return usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens;
}
