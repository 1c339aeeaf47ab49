/** Gateways on scratch data directories, for scripts that look at their dashboard. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

export interface DemoGateways {
  /** Runs a command of the program to its end. @returns its output @throws when it fails */
  output(args: readonly string[]): Promise<string>;
  /** Starts a gateway on a free port. @returns its address */
  serve(dataDir: string): Promise<string>;
  /** Ends all gateways that were started. */
  close(): Promise<void>;
}

/** @param home the home folder of all programs: what is installed on this machine is not seen */
export function demoGateways(home: string): DemoGateways {
  const started: ChildProcess[] = [];
  const program = (args: readonly string[]): ChildProcess => {
    const { PATH = '' } = process.env;
    return spawn(process.execPath, [join(root, 'src', 'cli', 'main.ts'), ...args], {
      env: { PATH, HOME: home },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
  };
  return {
    async output(args) {
      const child = program(args);
      const pieces: Buffer[] = [];
      child.stdout?.on('data', (piece: Buffer) => pieces.push(piece));
      child.stderr?.pipe(process.stderr);
      const [code] = await once(child, 'close');
      if (code !== 0) throw new Error(`gateway ${args.join(' ')}: exit ${String(code)}`);
      return Buffer.concat(pieces).toString();
    },
    async serve(dataDir) {
      const gateway = program(['serve', '--no-open', '--port', '0', '--data-dir', dataDir]);
      started.push(gateway);
      if (gateway.stdout === null || gateway.stderr === null) throw new Error('no output');
      let log = '';
      gateway.stderr.on('data', (piece: Buffer) => {
        log = (log + piece.toString()).slice(-10_000);
      });
      for await (const line of createInterface({ input: gateway.stdout })) {
        const url = /listening on (http:\S+)/.exec(line)?.[1];
        if (url !== undefined) {
          gateway.stdout.resume();
          return url;
        }
      }
      throw new Error(`the gateway did not start: ${log}`);
    },
    async close() {
      for (const gateway of started) {
        if (gateway.exitCode !== null) continue;
        gateway.kill('SIGTERM');
        await once(gateway, 'exit');
      }
    },
  };
}

/** Logs a user in as the dashboard does. @returns the token */
export async function logIn(url: string, name: string, password: string): Promise<string> {
  const reply = await fetch(`${url}/api/auth?requester_type=ui`, {
    headers: { authorization: `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}` },
  });
  if (!reply.ok) throw new Error(`login of ${name}: ${await reply.text()}`);
  return ((await reply.json()) as { auth_token: string }).auth_token;
}
