import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { Command } from '../command.ts';
import { failure } from '../terminal/failure.ts';
import { version } from '../version.ts';

/** Two folders up, both in `src/cli/commands` and in `dist/cli/commands`. */
const root = fileURLToPath(new URL('../../../', import.meta.url));
const TIMEOUT_MS = 30_000;

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
    const { io } = context;
    if (!existsSync(`${root}.git`))
      throw failure(
        1,
        'not_supported',
        `This gateway (${version()}) was installed from a package file, which does not say where newer ones are: make one from a newer clone with \`npm run package\`, and install it with \`npm install -g\``,
      );
    const environment = { ...(await context.environment()), GIT_TERMINAL_PROMPT: '0' };
    const git = async (...args: readonly string[]): Promise<string> => {
      try {
        const options = { cwd: root, env: environment, timeout: TIMEOUT_MS };
        return (await promisify(execFile)('git', args, options)).stdout.trim();
      } catch (error) {
        const { stderr } = Object(error) as { stderr?: unknown };
        const said = typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error);
        throw failure(1, 'update_unknown', `Whether there is a newer version is not known: ${said}`);
      }
    };
    const commit = await git('rev-parse', 'HEAD');
    const [remoteCommit = ''] = (await git('ls-remote', 'origin', 'HEAD')).split(/\s/);
    // A commit that is already in the history is an older one.
    const newer =
      remoteCommit !== '' &&
      remoteCommit !== commit &&
      !(await git('rev-list', 'HEAD')).split('\n').includes(remoteCommit);
    const next = newer
      ? ['gateway backup', `git -C ${root} pull --ff-only`, 'npm install', 'gateway stop']
      : [];
    const document = { version: version(), newer, commit, remote_commit: remoteCommit, next };
    io.result(document, () =>
      newer
        ? `There is a newer version (${remoteCommit.slice(0, 12)}). To take it:\n${next.map((line) => `  ${line}`).join('\n')}\nThen start the gateway again.`
        : `This is the newest version: ${document.version}, commit ${commit.slice(0, 12)}.`,
    );
    return 0;
  },
};
