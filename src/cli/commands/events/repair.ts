import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { repairEventDatabase } from '../../../events/database/repair.ts';
import { GatewayError } from '../../../lib/error.ts';
import { readRunFile } from '../../../run-file.ts';
import { acquireDataDir } from '../../../store/lock.ts';
import { audited } from '../../audit.ts';
import type { Command } from '../../command.ts';
import { count } from '../../terminal/text.ts';

export const eventsRepairCommand: Command = {
  arguments: [
    { name: 'file', summary: 'a database of events (default DATA_DIR/events.db)', required: false },
  ],
  flags: [],
  needs: 'store',
  about:
    'Needs the gateway stopped. Copies everything readable from a damaged database into a new one, which replaces it; the damaged file is kept under another name. Events that may have been delivered already are kept too, so some can arrive twice. An intact file is not changed.',
  examples: [
    { command: 'gateway events repair', does: 'what can be read of events.db' },
    { command: 'gateway events repair --json', does: '{"damaged","events","dead_letters","lost",…}' },
  ],
  run: async (options, context) => {
    const { io, now } = context;
    const { dataDir } = await context.config();
    const fileArgument = options.argument('file');
    const file = fileArgument === undefined ? join(dataDir, 'events.db') : resolve(fileArgument);
    if (!existsSync(file)) throw new GatewayError('invalid_request', `There is no file ${file}`);
    const lock = await acquireDataDir(dataDir, () => readRunFile(dataDir));
    try {
      io.note(`Checking ${file} …`);
      const movedTo = `${file}.damaged-${new Date(now()).toISOString().replaceAll(':', '-')}`;
      const entry = { action: 'events.repair', target: file };
      const report = await audited(context, entry, async () => repairEventDatabase(file, movedTo));
      const { damaged, deadLetters, events, lost, remembered, unreadable } = report;
      const document = {
        file,
        damaged,
        events,
        dead_letters: deadLetters,
        remembered,
        lost,
        unreadable,
        moved_to: report.movedTo,
      };
      io.result(document, () => {
        if (!damaged) return `${file} is not damaged.`;
        const summary = `Kept ${count(events, 'event')} and ${count(deadLetters, 'dead letter')}. The damaged file is ${movedTo}.`;
        if (lost > 0) return `${summary} ${count(lost, 'event')} could not be read.`;
        return unreadable.length === 0
          ? summary
          : `${summary} Parts of it could not be read: ${unreadable.join(', ')}.`;
      });
      return 0;
    } finally {
      lock.release();
    }
  },
};
