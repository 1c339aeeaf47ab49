import type { Command } from '../command.ts';
import { failure } from '../terminal/failure.ts';
import { fetchUpdate, updateSentence } from '../update-check.ts';
import { version } from '../version.ts';

export const updateCommand: Command = {
  arguments: [],
  flags: [],
  needs: 'nothing',
  about:
    'Asks the remote repository that a clone came from, and installs nothing. Exit 0 whether or not there is a newer version; see `newer` in the JSON document.',
  examples: [
    { command: 'gateway update --json', does: '{"version","newer","commit","remote_commit","next"}' },
  ],
  run: async (_, context) => {
    const answer = await fetchUpdate(await context.environment());
    const sentence = updateSentence(answer, version());
    if (answer.kind === 'package') throw failure(1, 'not_supported', sentence);
    if (answer.kind === 'failed') throw failure(1, 'update_unknown', sentence);
    const { commit, newer, next, remoteCommit } = answer;
    const document = { version: version(), newer, commit, remote_commit: remoteCommit, next };
    context.io.result(document, () =>
      newer
        ? `${sentence} To take it:\n${next.map((line) => `  ${line}`).join('\n')}\nThen start the gateway again.`
        : sentence,
    );
    return 0;
  },
};
