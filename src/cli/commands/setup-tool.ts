import { findTool } from '../../tools/catalogue/index.ts';
import type { Command } from '../command.ts';
import type { Context } from '../context.ts';
import type { ExitCode } from '../terminal/exit-code.ts';
import { toolFlags } from '../tools/flags.ts';
import { changeText, noteEnvironment } from '../tools/set-up.ts';
import { type SetupResult, setUpAndTest } from '../tools/set-up-and-test.ts';

/** `gateway setup-TOOL`: `tools configure` with a key and a model found, and the route tried. */
export function setupToolCommand(id: string): Command {
  const entry = findTool(id);
  if (entry === null) throw new Error(`The catalogue has no tool ${id}`);
  const { apiKey, dryRun, model, noTest, remote, yes } = toolFlags;
  const needsModel = entry.recipe.model === 'required';
  const modelFlag = needsModel ? ' --model auto' : '';
  return {
    arguments: [],
    flags: [model, apiKey, remote, dryRun, yes, noTest],
    needs: 'store',
    about: `Writes its base address, key and model into the configuration of ${entry.name}, and then sends one small request the same way. Without a key, the gateway on this machine makes one. \`gateway tools restore ${id}\` undoes it.`,
    examples: [
      { command: `gateway setup-${id}`, does: 'shows the change, asks, writes and tries it' },
      { command: `gateway setup-${id}${modelFlag} --dry-run`, does: 'shows the change' },
      {
        command: `GATEWAY_API_KEY=sk-… gateway setup-${id}${modelFlag} --remote https://ai.example.com --yes`,
        does: 'a gateway on another machine, without questions',
      },
    ],
    run: async (options, context) => {
      const done = await setUpAndTest(entry, options, context);
      return show(done, context);
    },
  };
}

function show({ facts, model, outcome, test, tool }: SetupResult, context: Context): ExitCode {
  const { change, dryRun, createdKey } = outcome;
  const { io } = context;
  const { root } = facts;
  io.result({ ...change, gateway: root, model, key: createdKey, test, dry_run: dryRun }, () =>
    [
      changeText(outcome, tool, root),
      ...(createdKey === null
        ? []
        : [`Its key "${createdKey.name}", shown this once only: ${createdKey.key}`]),
      ...(test?.ok === true ? [`The route works: ${test.model} answered in ${test.latency_ms} ms.`] : []),
    ].join('\n'),
  );
  noteEnvironment(outcome, tool, context);
  if (test === null || test.ok) return 0;
  const undo = change.changed
    ? ` It was written all the same; \`gateway tools restore ${tool.id}\` undoes it.`
    : '';
  io.note(`The route does not work yet. ${test.error}${undo}`);
  return 1;
}
