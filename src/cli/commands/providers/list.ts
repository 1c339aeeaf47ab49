import { rowOfConnection } from '../../../connections/connection-row.ts';
import type { ConnectionRecord } from '../../../connections/schema.ts';
import type { Command } from '../../command.ts';
import { connectionRecords } from '../../setup/connect.ts';
import { localTime, type StyleName } from '../../terminal/text.ts';

const styleOfStatus: Readonly<Record<ConnectionRecord['status'], StyleName | null>> = {
  untested: null,
  ok: 'green',
  failed: 'red',
  'needs-re-entry': 'yellow',
};

export const providersListCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  examples: [
    { command: 'gateway providers list --json', does: '{"providers":[{"id","provider","name","status",…}]}' },
  ],
  run: async (_, context) => {
    const records = await connectionRecords(context);
    context.io.result({ providers: records.map(rowOfConnection) }, () => {
      if (records.length === 0) {
        return 'No connections yet: add one with `gateway provider add PROVIDER`. The demo (demo/echo) works without.';
      }
      return context.io.table<ConnectionRecord>(
        [
          { title: 'NAME', cell: (record) => record.name },
          { title: 'PROVIDER', cell: (record) => record.provider },
          { title: 'STATUS', cell: status, style: (record) => styleOfStatus[record.status] },
          { title: 'MODELS', cell: models },
          { title: 'TESTED', cell: (record) => localTime(record.lastTestedAt) },
          { title: 'BASE URL', cell: (record) => record.baseUrl ?? '(usual)' },
          { title: 'ID', cell: (record) => record.id },
        ],
        records,
      );
    });
    return 0;
  },
};

/** How many there are, and since when that is known. */
function models({ models: listed, modelsAt }: ConnectionRecord): string {
  return listed === null ? '' : `${listed.length}, ${localTime(modelsAt)}`;
}

function status(record: ConnectionRecord): string {
  return record.active ? record.status : `${record.status}, inactive`;
}
