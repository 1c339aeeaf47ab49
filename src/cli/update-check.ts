import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** What the repository that a clone came from says of newer versions. */
export type UpdateAnswer =
  | {
      kind: 'known';
      newer: boolean;
      commit: string;
      remoteCommit: string;
      /** The commands that take the newer version. */
      next: string[];
    }
  /** It was installed from a package file, which does not say where it came from. */
  | { kind: 'package' }
  | { kind: 'failed'; reason: string };

/** The folder of the clone or package: above both `src/cli` and `dist/cli`. */
const root = fileURLToPath(new URL('../../', import.meta.url));
const TIMEOUT_MS = 30_000;

/** Asks the remote repository that this clone came from, and installs nothing. */
export async function fetchUpdate(
  environment: Readonly<Record<string, string | undefined>>,
): Promise<UpdateAnswer> {
  if (!existsSync(`${root}.git`)) return { kind: 'package' };
  const git = async (...args: readonly string[]): Promise<string> => {
    const env = { ...environment, GIT_TERMINAL_PROMPT: '0' };
    const { stdout } = await promisify(execFile)('git', args, { cwd: root, env, timeout: TIMEOUT_MS });
    return stdout.trim();
  };
  try {
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
    return { kind: 'known', newer, commit, remoteCommit, next };
  } catch (error) {
    const { stderr } = Object(error) as { stderr?: unknown };
    return {
      kind: 'failed',
      reason: typeof stderr === 'string' && stderr.trim() !== '' ? stderr.trim() : String(error),
    };
  }
}

/** The answer in a sentence. @param version of this gateway */
export function updateSentence(answer: UpdateAnswer, version: string): string {
  switch (answer.kind) {
    case 'package':
      return `This gateway (${version}) was installed from a package file, which does not say where newer ones are: make one from a newer clone with \`npm run package\`, and install it with \`npm install -g\``;
    case 'failed':
      return `Whether there is a newer version is not known: ${answer.reason}`;
    case 'known':
      return answer.newer
        ? `There is a newer version (${answer.remoteCommit.slice(0, 12)}).`
        : `This is the newest version: ${version}, commit ${answer.commit.slice(0, 12)}.`;
  }
}
