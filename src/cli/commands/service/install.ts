import { mkdir, realpath, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { Command } from '../../command.ts';
import { systemdOf, UNIT, unitState } from '../../service/systemd.ts';
import { unitText } from '../../service/unit.ts';
import { failure } from '../../terminal/failure.ts';

export const serviceInstallCommand: Command = {
  arguments: [],
  flags: [{ name: 'dry-run', summary: 'print the unit and change nothing' }],
  needs: 'store',
  about:
    'Writes a user unit of systemd, starts it, and has it started with your session; no root is needed. The unit keeps the data directory and the port of this command. Secrets go into DATA_DIR/service.env, a line NAME=value each. Run it again after an update of the gateway or of Node.js.',
  examples: [
    { command: 'gateway service install', does: 'the gateway runs in the background from now on' },
    { command: 'gateway service install --dry-run', does: 'shows the unit' },
  ],
  run: async (options, context) => {
    const { io } = context;
    const { dataDir, drainDelayMs, drainMs } = await context.config();
    const systemd = await systemdOf(context);
    const port = options.text('port');
    const folder = resolve(dataDir);
    const text = unitText({
      node: process.execPath,
      program: await realpath(process.argv[1] ?? ''),
      dataDir: folder,
      port: port === undefined ? null : Number(port),
      environmentFile: join(folder, 'service.env'),
      drainMs: drainDelayMs + drainMs,
    });
    const { unitPath } = systemd;
    if (options.on('dry-run')) {
      io.result({ path: unitPath, unit: text, installed: false }, () => text.trimEnd());
      return 0;
    }
    const own = await unitState(systemd);
    const running = await context.findGateway();
    if (running !== null && running.pid !== own.pid)
      throw failure(
        1,
        'conflict',
        `A gateway runs on this data directory already (pid ${running.pid}): \`gateway stop\` first`,
      );
    await mkdir(dirname(unitPath), { recursive: true });
    await writeFile(unitPath, text, { mode: 0o600 });
    await systemd.ctl('daemon-reload');
    await systemd.ctl('enable', UNIT);
    await systemd.ctl('restart', UNIT);
    const state = await unitState(systemd);
    io.result({ path: unitPath, ...state }, () => `Installed ${unitPath}: ${state.active}.`);
    io.note('It runs while you are logged in; `loginctl enable-linger` keeps it running after that.');
    io.note(`Its log: journalctl --user --unit ${UNIT} --follow`);
    return state.active === 'failed' ? 1 : 0;
  },
};
