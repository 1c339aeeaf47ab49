import { z } from 'zod';
import type { ConfigProblem } from '../../../events/config/problem.ts';
import type { Command } from '../../command.ts';
import type { Context } from '../../context.ts';
import { configFileArgument, configSource, problemLines } from '../../events/event-config.ts';
import { appliedConfig, changeLines, problemRow } from '../../events/events-answers.ts';
import { requestEvents } from '../../events/events-api.ts';
import { count } from '../../terminal/text.ts';

const verdict = z.object({ errors: z.array(problemRow).default([]), warnings: z.array(problemRow) });

export const eventsApplyCommand: Command = {
  arguments: [configFileArgument],
  flags: [
    { name: 'dry-run', summary: 'change nothing; only show what would change' },
    { name: 'if-version', value: 'N', kind: 'count', summary: 'only if this version is the current one' },
  ],
  needs: 'server',
  about:
    'The running gateway changes to the configuration as a whole, and keeps it as events.yaml in its data directory. If anything in it is wrong, nothing changes and the exit code is 1.',
  examples: [
    {
      command: 'gateway events apply events.yaml --dry-run',
      does: 'what would be added, changed and removed',
    },
    {
      command: 'gateway events apply - --if-version 3',
      does: 'reads stdin; refused when version 3 is not in force',
    },
  ],
  run: async (options, context) => {
    const file = options.argument('file') ?? '';
    const source = await configSource(file, context);
    const version = options.count('if-version');
    const content =
      source.format === 'text'
        ? { type: 'application/yaml', bytes: source.text }
        : { type: 'application/x-protobuf', bytes: source.bytes };
    const headers = { 'if-match': version === undefined ? '*' : `"${version}"` };
    const path = `/config${options.on('dry-run') ? '?dry_run=true' : ''}`;
    const { body } = await requestEvents(context, path, { method: 'PUT', content, headers }, 400);
    const { errors, warnings } = verdict.parse(body);
    const problems: ConfigProblem[] = [
      ...errors.map((one) => ({ ...one, severity: 'error' as const })),
      ...warnings.map((one) => ({ ...one, severity: 'warning' as const })),
    ];
    if (errors.length > 0) {
      context.io.result({ applied: false, errors, warnings }, () =>
        [...problemLines(file, problems, context.io), 'Nothing was changed.'].join('\n'),
      );
      return 1;
    }
    show(body, problems, file, options.on('dry-run'), context);
    return 0;
  },
};

function show(
  body: unknown,
  problems: readonly ConfigProblem[],
  file: string,
  dryRun: boolean,
  { io }: Context,
): void {
  const { changes, lost_comments: lost = 0, version = null } = appliedConfig.parse(body);
  const document = { applied: !dryRun, version, changes, warnings: problems, lost_comments: lost };
  io.result(document, () =>
    [
      ...problemLines(file, problems, io),
      ...changeLines(changes),
      ...(lost > 0 ? [`${count(lost, 'comment')} of events.yaml could not be kept.`] : []),
      dryRun ? 'Nothing was changed: this was a dry run.' : `Version ${version} is in force.`,
    ].join('\n'),
  );
}
