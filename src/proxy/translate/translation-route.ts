import { isOfMessages } from '../../codecs/adapt/optional-fields.ts';
import { codecOf } from '../../codecs/index.ts';
import { leastKept } from '../../codecs/prompt-cache/cache-worth.ts';
import type { WireFormat } from '../../codecs/wire-format.ts';
import type { Target } from '../../combos/routing/resolve.ts';
import { providerDialect } from '../../providers/dialect.ts';
import type { TranslationRoute } from './settled-conversation.ts';
import type { TranslationInput, TranslationOptions } from './translation-input.ts';

/** The most turns with a mark for the prompt cache: 0 for none, however long the request is. */
export function markedTurns(
  { format, model, provider }: Pick<Target, 'format' | 'model' | 'provider'>,
  { cacheMarks }: Pick<TranslationOptions, 'cacheMarks'>,
): number {
  if (!cacheMarks) return 0;
  return codecOf(format).conversation?.markedTurns?.(model, providerDialect(provider)) ?? 0;
}

/**
 * What the translation of a request depends on, beside its bytes. Null where its turns are not translated alike
 * wherever they stand: with an answer that was begun, with earlier turns that it names, and where ids or fields of
 * messages are not written as they came.
 */
export function translationRoute(
  { named, target, responseState }: Pick<TranslationInput, 'named' | 'target' | 'responseState'>,
  format: WireFormat,
  {
    prefix,
    cacheMarks,
    outputCap,
    refusedFields,
  }: Pick<TranslationOptions, 'prefix' | 'cacheMarks' | 'outputCap' | 'refusedFields'>,
): TranslationRoute | null {
  const shape = codecOf(format).exchange;
  const written = codecOf(target.format).exchange;
  const { connection, model, provider } = target;
  const { callIds } = providerDialect(provider);
  if (shape === undefined || written === undefined || prefix !== '' || callIds === 'short') return null;
  if (responseState && !isPlain(responseState)) return null;
  if (refusedFields.some(isOfMessages)) return null;
  const { list, nestsArguments } = written;
  const marked = markedTurns(target, { cacheMarks });
  return {
    key: JSON.stringify([
      format,
      target.format,
      model,
      connection.id,
      outputCap,
      cacheMarks,
      refusedFields,
      named,
      Boolean(responseState),
    ]),
    dialect: provider.dialect,
    shape,
    list,
    nestsArguments,
    marked,
    enough: marked === 0 ? 0 : leastKept(model),
    named: named === null ? null : { model: named.model, stream: named.stream },
  };
}

/** Whether the gateway keeps no state of the request beside its body. */
function isPlain({
  compaction,
  compacts,
  input,
  previousId,
}: NonNullable<TranslationInput['responseState']>): boolean {
  return previousId === null && input === null && compaction === null && !compacts;
}
