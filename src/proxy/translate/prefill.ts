import type { AnswerPrefix } from '../../codecs/adapt/continuation.ts';
import { codecOf } from '../../codecs/index.ts';
import type { ChatPrefill } from '../../codecs/model/dialect.ts';
import type { Target } from '../../combos/routing/resolve.ts';

/** How a target is made to continue a text; null where it cannot. */
export function prefillOf({ format, provider }: Pick<Target, 'format' | 'provider'>): ChatPrefill | null {
  const { prefill } = codecOf(format).conversation ?? { prefill: false };
  if (prefill === 'dialect') return provider.dialect?.prefill ?? null;
  return prefill ? {} : null;
}

/** The formats in which a text can be continued, the usual one first. */
const formats = ['openai-chat', 'anthropic-messages', 'gemini', 'ollama'] as const;

/**
 * The target in a format in which it can continue an answer; null where it has none. Where no word of the answer was
 * written yet, it is as it was.
 */
export function continuationTarget(target: Target, { text }: Pick<AnswerPrefix, 'text'>): Target | null {
  if (text.trim() === '' || prefillOf(target) !== null) return target;
  const { provider } = target;
  const format = formats.find(
    (one) => provider.formats[one] !== undefined && prefillOf({ format: one, provider }) !== null,
  );
  return format === undefined ? null : { ...target, format };
}
