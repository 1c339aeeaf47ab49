import type { EventConfig } from '../../../events/config/config.ts';
import { decodeConfig } from '../../../events/config/decode.ts';
import type { ConfigProblem } from '../../../events/config/problem.ts';
import { reportUnsupported } from '../../../events/engine/supported.ts';
import type { Command } from '../../command.ts';
import { configFileArgument, configSource, problemLines } from '../../events/event-config.ts';
import { count, printable } from '../../terminal/text.ts';

export const eventsValidateCommand: Command = {
  arguments: [configFileArgument],
  flags: [
    {
      name: 'lenient',
      summary:
        'take P6S for PT6S, and numbers without a time unit for what others take them for, with a warning',
    },
  ],
  needs: 'nothing',
  about:
    'Checks fields, references, addresses, durations, limits and filters, and prints every problem with its field and line. Exit 1 when there are errors; warnings do not count. Changes nothing, and connects to no message queue.',
  examples: [
    { command: 'gateway events validate events.yaml', does: 'all problems of the file' },
    {
      command: 'gateway events validate events.yaml --json',
      does: '{"valid","errors":[…],"warnings":[…],…}',
    },
  ],
  run: async (options, context) => {
    const file = options.argument('file') ?? '';
    const decoded = decodeConfig(await configSource(file, context), {
      lenient: options.on('lenient'),
      // Which settings the gateway has is not known here.
      alsoCheck: (config, report) =>
        reportUnsupported(config, report, {
          distributedStorage: true,
          fallbacks: null,
          redis: true,
          sharedDatabase: false,
        }),
    });
    const problems = decoded.ok ? decoded.warnings : decoded.problems;
    const of = (ofSeverity: ConfigProblem['severity']) =>
      problems
        .filter(({ severity }) => severity === ofSeverity)
        .map(({ column = null, line = null, message, path }) => ({ path, message, line, column }));
    const document = {
      file,
      valid: decoded.ok,
      errors: of('error'),
      warnings: of('warning'),
      summary: decoded.ok ? summaryOf(decoded.config) : null,
    };
    context.io.result(document, () =>
      [...problemLines(file, problems, context.io), printable(verdictOf(file, document.summary))].join('\n'),
    );
    return decoded.ok ? 0 : 1;
  },
};

const summaryOf = ({ channels, routes, sources, triggers }: EventConfig) => ({
  channels: channels.size,
  sources: sources.size,
  triggers: triggers.size,
  routers: routes.length,
});

function verdictOf(file: string, summary: ReturnType<typeof summaryOf> | null): string {
  if (summary === null) return `${file} is not valid.`;
  const counts = Object.entries(summary).map(([what, amount]) => count(amount, what.replace(/s$/, '')));
  return `${file} is valid: ${counts.join(', ')}.`;
}
