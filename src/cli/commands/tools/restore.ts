import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { confirmDestruction } from '../../terminal/confirm.ts';
import { toolFlags } from '../../tools/flags.ts';
import { namedTool, toolIds, toolPlace } from '../../tools/gateway-facts.ts';

export const toolsRestoreCommand: Command = {
  arguments: [{ name: 'tool', summary: 'id of the tool', required: true, suggestions: toolIds }],
  flags: [
    {
      name: 'backup',
      value: 'ID',
      summary: 'restore the files of this backup byte for byte, and discard later changes to them',
    },
    { name: 'list', summary: 'list the backups of the tool, and change nothing' },
    toolFlags.dryRun,
    toolFlags.yes,
  ],
  needs: 'store',
  about:
    'A file that has not changed since becomes what it was before the gateway first wrote it, byte for byte. From a changed file only the entries that the gateway wrote are removed, and the earlier values are put back. The replaced files are backed up too.',
  examples: [
    { command: 'gateway tools restore claude --dry-run', does: 'shows the change' },
    { command: 'gateway tools restore codex --yes', does: 'undoes every `gateway tools configure codex`' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const tool = await namedTool(options.argument('tool'), context);
    const place = await toolPlace(context);
    if (options.on('list')) {
      const { listBackups } = await import('../../../tools/configuring/backups.ts');
      const backups = (await listBackups(place.dataDir, tool.id)).map(
        ({ action, created_at, files, id }) => ({
          id,
          action,
          created_at,
          files: files.map(({ path }) => path),
        }),
      );
      io.result({ backups }, () =>
        io.table(
          [
            { title: 'BACKUP', cell: ({ id }) => id },
            { title: 'MADE', cell: ({ created_at }) => created_at },
            { title: 'BEFORE', cell: ({ action }) => action },
            { title: 'FILES', cell: ({ files }) => files.join(', ') },
          ],
          backups,
        ),
      );
      return 0;
    }
    const { restoreTool } = await import('../../../tools/configuring/restore.ts');
    const input = { tool, backupId: options.text('backup') ?? null };
    const planned = await restoreTool(place, { ...input, dryRun: true });
    if (options.on('dry-run') || !planned.changed) {
      io.result({ ...planned, dry_run: options.on('dry-run') }, () =>
        planned.changed ? planned.diff : `${tool.name} is as it was: nothing was changed.`,
      );
      return 0;
    }
    if (!options.on('yes')) io.note(planned.diff);
    await confirmDestruction(`Write this into the configuration of ${tool.name}?`, options, io);
    const entry = { action: 'tools.restore', target: tool.id, input: { backup: input.backupId } };
    const change = await audited(context, entry, () => restoreTool(place, input));
    io.result({ ...change, dry_run: false }, () => `${tool.name} is restored: ${change.path}`);
    if (change.kept.length > 0)
      io.note(`Left as they are, because they were changed since: ${change.kept.join(', ')}`);
    return 0;
  },
};
