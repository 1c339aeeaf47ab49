import { auditFolder } from '../../../access/audit/files.ts';
import { verifyAudit } from '../../../access/audit/verify.ts';
import type { Command } from '../../command.ts';
import { count } from '../../terminal/text.ts';

export const auditVerifyCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'store',
  about:
    'Checks the whole chain and names the first record that was changed. Exit 1 when there is one. Anyone who can write the files can write a whole new chain: keep the hash of the last record elsewhere, and look for it later.',
  examples: [
    { command: 'gateway audit verify', does: 'how many records are sound, and the hash of the last one' },
    { command: 'gateway audit verify --json | jq -e .ok', does: 'in a script' },
  ],
  run: async (_, { dataDir: where, io }) => {
    const folder = auditFolder(await where());
    const verification = await verifyAudit(folder);
    const { fault, last, ok, records, unfinished } = verification;
    if (unfinished) io.note('The last line is unfinished: it is being written, or its writer was killed.');
    io.result({ folder, ...verification }, () =>
      fault === null
        ? `The audit log is sound: ${count(records, 'record')}${last === null ? '' : `, the last one is ${last.seq} ${last.hash}`}.`
        : `${folder}/${fault.file}, line ${fault.line}: ${fault.reason}. ${count(records, 'record')} before it ${records === 1 ? 'is' : 'are'} sound.`,
    );
    return ok ? 0 : 1;
  },
};
