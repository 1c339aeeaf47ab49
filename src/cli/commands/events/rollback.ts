import type { Command } from '../../command.ts';
import { appliedConfig, changeLines } from '../../events/events-answers.ts';
import { requestEvents } from '../../events/events-api.ts';

export const eventsRollbackCommand: Command = {
  arguments: [{ name: 'version', summary: 'a version of `gateway events history`', required: true }],
  flags: [{ name: 'dry-run', summary: 'change nothing; only show what would change' }],
  needs: 'server',
  about: 'Applies an earlier configuration again, as a new version.',
  examples: [{ command: 'gateway events rollback 3', does: 'version 3 is in force again' }],
  run: async (options, context) => {
    const version = encodeURIComponent(options.argument('version') ?? '');
    const dryRun = options.on('dry-run');
    const path = `/config/versions/${version}:restore${dryRun ? '?dry_run=true' : ''}`;
    const { body } = await requestEvents(context, path, { method: 'POST' });
    const applied = appliedConfig.parse(body);
    context.io.result({ applied: !dryRun, version: applied.version ?? null, changes: applied.changes }, () =>
      [
        ...changeLines(applied.changes),
        dryRun ? 'Nothing was changed: this was a dry run.' : `Version ${applied.version} is in force.`,
      ].join('\n'),
    );
    return 0;
  },
};
