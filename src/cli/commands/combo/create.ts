import type { ComboTarget } from '../../../combos/combo-schema.ts';
import { strategyName } from '../../../combos/schema.ts';
import { comboStore, type NewCombo } from '../../../combos/store.ts';
import { strategies } from '../../../combos/strategies/index.ts';
import { audited } from '../../audit.ts';
import type { Command, Options } from '../../command.ts';
import { comboRow } from '../../resources/combos.ts';
import { usageError } from '../../terminal/failure.ts';

export const comboCreateCommand: Command = {
  arguments: [{ name: 'name', summary: 'what tools ask for, e.g. fast', required: true }],
  flags: [
    {
      name: 'strategy',
      value: 'STRATEGY',
      choices: strategyName.options,
      summary: 'how targets are chosen (default priority)',
    },
    {
      name: 'target',
      names: 'model',
      value: 'MODEL[@WEIGHT]',
      kind: 'list',
      summary: 'connection/model, provider/model or a combo; repeat it, the preferred one first',
    },
    {
      name: 'wait-ms',
      value: 'N',
      kind: 'count',
      summary: 'milliseconds to wait for a paused account (default 0)',
    },
    {
      name: 'max-attempts',
      value: 'N',
      kind: 'count',
      summary: 'attempts that one request may take (default 10)',
    },
    {
      name: 'max-elapsed-ms',
      value: 'N',
      kind: 'count',
      summary: 'start no new attempt after this many milliseconds (default 120000)',
    },
    { name: 'no-affinity', summary: 'let a session move to another target with each request' },
    {
      name: 'continue-stream',
      value: 'STATE',
      choices: ['on', 'off'],
      summary: 'whether another target continues an answer that breaks off (default off)',
    },
    {
      name: 'cache',
      value: 'STATE',
      choices: ['on', 'off'],
      summary: 'whether the same request may be answered from the cache (default off)',
    },
    {
      name: 'cache-ttl',
      value: 'SECONDS',
      kind: 'count',
      summary: 'for how long, with --cache on (default: as long as cache.ttl_seconds says)',
    },
    {
      name: 'prompt-cache-marks',
      value: 'STATE',
      choices: ['on', 'off'],
      summary: 'whether to mark what Anthropic keeps in its prompt cache (default on)',
    },
    { name: 'activate', summary: 'make it the combo that "auto" means' },
    { name: 'replace', summary: 'change the combo of this name, if there is one' },
  ],
  needs: 'store',
  about: `A running gateway uses it at once. Strategies:\n${Object.values(strategies)
    .map(({ id, summary }) => `  ${id}: ${summary}`)
    .join('\n')}`,
  examples: [
    {
      command:
        'gateway combo create smart --target anthropic/claude-sonnet-4-5 --target openai/gpt-5 --activate',
      does: 'the second when the first cannot',
    },
    {
      command: 'gateway combo create spread --strategy weighted --target a/gpt-5@3 --target b/gpt-5@1',
      does: 'three to one',
    },
  ],
  run: async (options, context) => {
    const combo = comboOf(options);
    const combos = comboStore(await context.store(), context.now);
    const existing = await combos.find(combo.name);
    const before = options.on('replace') ? existing : null;
    const action = before === null ? 'combos.create' : 'combos.update';
    const { name, strategy, targets } = combo;
    const entry = { action, target: before?.id ?? name, input: { name, strategy, targets } };
    const record = await audited(context, entry, async () => {
      if (before === null && existing?.name === name)
        throw usageError(
          `a combo named "${name}" exists already: choose another name, or change it with --replace`,
        );
      const activation = { activate: options.on('activate') };
      return before === null ? combos.add(combo, activation) : combos.update(before.id, combo, activation);
    });
    const row = await comboRow(record?.id ?? name, context);
    context.io.result(row, () =>
      row.active
        ? `The combo "${row.name}" is ready, and "auto" means it.`
        : `The combo "${row.name}" is ready: ask for the model ${row.name}.`,
    );
    for (const { problem, target } of row.targets)
      if (problem !== null) context.io.note(`${target} is left out for now: ${problem}.`);
    return 0;
  },
};

function comboOf(options: Options): NewCombo {
  const targets = options.texts('target').map(targetOf);
  if (targets.length === 0)
    throw usageError('A combo needs targets: --target openai/gpt-5, the preferred one first');
  const strategy = strategyName.safeParse(options.text('strategy') ?? 'priority');
  const [waitMs, maxAttempts, maxElapsedMs] = ['wait-ms', 'max-attempts', 'max-elapsed-ms'].map((flag) =>
    options.count(flag),
  );
  const goOn = options.text('continue-stream');
  const [cache, cacheTtl] = [options.text('cache'), options.count('cache-ttl')];
  const cacheMarks = options.text('prompt-cache-marks');
  if (cacheTtl === 0) throw usageError('--cache-ttl must be above 0: --cache off keeps no answers');
  return {
    name: (options.argument('name') ?? '').trim(),
    targets,
    ...(strategy.success ? { strategy: strategy.data } : {}),
    options: {
      ...(waitMs === undefined ? {} : { waitMs }),
      ...(maxAttempts === undefined ? {} : { maxAttempts }),
      ...(maxElapsedMs === undefined ? {} : { maxElapsedMs }),
      ...(options.on('no-affinity') ? { affinity: false } : {}),
      ...(goOn === undefined ? {} : { continueStream: goOn === 'on' }),
      ...(cache === undefined ? {} : { cache: cache === 'on' }),
      ...(cacheTtl === undefined ? {} : { cacheTtlMs: cacheTtl * 1000 }),
      ...(cacheMarks === undefined ? {} : { cacheMarks: cacheMarks === 'on' }),
    },
  };
}

/** `model@3` has the weight 3. Some model ids have an @ themselves, with a date behind it that no weight can be. */
function targetOf(text: string): ComboTarget {
  const [, target, digits] = /^(.*[^@])@(\d{1,4}(?:\.\d+)?)$/.exec(text.trim()) ?? [];
  if (target === undefined || digits === undefined) return { target: text.trim(), weight: 1 };
  const weight = Number(digits);
  if (weight > 1_000) throw usageError(`The weight of ${target} is ${digits}, and 1000 at most`);
  return { target, weight };
}
