import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { accepts, freePort, installed, type PrivateBroker, startBroker } from './server-process.ts';

export const hasMosquitto = installed('mosquitto');

/** A Mosquitto with a port of its own. @param folder keeps its data */
export async function startMosquitto(
  folder: string,
  settings: readonly string[] = [],
): Promise<PrivateBroker & { stop(): Promise<void> }> {
  const port = await freePort();
  mkdirSync(folder, { recursive: true });
  const config = join(folder, 'mosquitto.conf');
  const lines = [
    `listener ${port} 127.0.0.1`,
    'allow_anonymous true',
    // As root it would become the user `mosquitto`, who may not write here.
    'user root',
    'persistence true',
    `persistence_location ${folder}/`,
    ...settings,
  ];
  writeFileSync(config, lines.map((line) => `${line}\n`).join(''));
  const broker = await startBroker(`mqtt://127.0.0.1:${port}`, port, {
    command: 'mosquitto',
    args: ['-c', config],
    ready: () => accepts(port),
  });
  return { ...broker, stop: broker.kill };
}
