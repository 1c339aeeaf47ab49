import { parseRecord } from '../../../access/audit/chain.ts';
import { auditFolder, newestLines } from '../../../access/audit/files.ts';
import type { AuditRecord } from '../../../access/audit/schema.ts';
import type { Command } from '../../command.ts';
import { localTime, printable } from '../../terminal/text.ts';

export const auditListCommand: Command = {
  arguments: [],
  flags: [
    {
      name: 'limit',
      short: 'n',
      value: 'N',
      kind: 'count',
      summary: 'show this many of the latest records (default 50)',
    },
    { name: 'action', value: 'TEXT', summary: 'only records whose action starts with this, e.g. `keys.`' },
    { name: 'search', value: 'TEXT', summary: 'only records with the text anywhere in them' },
  ],
  needs: 'store',
  about: 'Newest first. It does not check the records: `gateway audit verify` does.',
  examples: [
    { command: 'gateway audit list --action auth.', does: 'logins, and what was refused' },
    { command: 'gateway audit list --search laptop --json', does: 'the whole records' },
  ],
  run: async (options, { dataDir: where, io }) => {
    const dataDir = await where();
    const limit = options.count('limit') ?? 50;
    const action = options.text('action') ?? '';
    const search = (options.text('search') ?? '').toLowerCase();
    const records: AuditRecord[] = [];
    for await (const line of newestLines(auditFolder(dataDir))) {
      if (records.length >= limit) break;
      if (!line.toLowerCase().includes(search)) continue;
      const record = parseRecord(line);
      if (record?.action.startsWith(action)) records.push(record);
    }
    if (records.length === 0) io.note('No records.');
    io.result({ records }, () =>
      io.table<AuditRecord>(
        [
          { title: 'SEQ', cell: ({ seq }) => String(seq) },
          { title: 'TIME', cell: ({ time }) => localTime(Date.parse(time)) },
          { title: 'WHO', cell: ({ actor }) => printable(actor.name ?? actor.id ?? actor.via) },
          { title: 'ACTION', cell: ({ action }) => printable(action) },
          { title: 'TARGET', cell: ({ target }) => printable(target ?? '-') },
          {
            title: 'OUTCOME',
            cell: ({ outcome, reason }) => (reason === null ? outcome : `${outcome} (${printable(reason)})`),
            style: ({ outcome }) => (outcome === 'success' ? 'green' : 'red'),
          },
        ],
        records,
      ),
    );
    return 0;
  },
};
